package gate

import (
	"context"

	"weir"
)

// Admit takes an input's text, references and mentions through the gate.
func (g *Gate) Admit(ctx context.Context, tx Tx, a weir.Actor, in *weir.Input) error {
	panic("not yet")
}

// Settle records what became of an input's flows.
func (g *Gate) Settle(ctx context.Context, tx Tx, in *weir.Input, result weir.FlowResult, seq weir.Seq) error {
	panic("not yet")
}
