package turn

import (
	"context"

	"weir"
)

// rest makes the lease's conversation idle and frees the lease, unless
// something is due: that is decided here, in the transaction that would make
// it idle, after the head was locked by being changed, so nothing that was
// admitted can slip between. After an interrupt nothing is due; what is
// pending waits for a person. With yield the conversation rests whatever is
// pending, and somebody rings when it may go on.
func rest(ctx context.Context, tx Tx, l weir.Lease, yield bool) (rested bool, err error) {
	idle, running, waiting, nothing := weir.Idle, weir.Running, weir.Waiting, ""
	if err := tx.ChangeActivity(ctx, l.Conversation, weir.Activity{State: &idle}); err != nil {
		return false, err
	}
	c, err := tx.Conversation(ctx, l.Conversation)
	if err != nil {
		return false, err
	}
	var pending []weir.Input
	if !c.Deleted {
		if pending, err = tx.PendingInputs(ctx, l.Conversation); err != nil {
			return false, err
		}
	}
	held, steers := c.WaitingFor == waitingResume, c.WaitingFor == waitingSteers
	resume := waitingResume
	var act weir.Activity
	switch {
	case held && len(pending) > 0:
		act.State = &waiting
	case steers && yield && len(pending) > 0: // it is rung for them
		return true, tx.ReleaseLease(ctx, l)
	case !held && !yield && !choose(pending, steers).empty():
		act.State = &running
	case steers && len(pending) > 0:
		act.State, act.WaitingFor = &waiting, &resume
	}
	if c.WaitingFor != "" && act.State != &waiting && !(steers && act.State == &running) {
		act.WaitingFor = &nothing
	}
	if act != (weir.Activity{}) {
		if err := tx.ChangeActivity(ctx, l.Conversation, act); err != nil {
			return false, err
		}
	}
	if act.State == &running {
		return false, nil
	}
	return true, tx.ReleaseLease(ctx, l)
}
