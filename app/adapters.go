package app

import (
	"context"
	"crypto/rand"
	"io"
	"time"

	"weir"
	"weir/api"
	"weir/gate"
	"weir/importer"
	"weir/lifecycle"
	"weir/live"
	"weir/store"
	"weir/tool"
	"weir/turn"
)

// The rooms declare what they need of the store; its one wide transaction
// serves them all. These held here by the compiler:
var (
	_ turn.Tx      = store.Tx(nil)
	_ gate.Tx      = store.Tx(nil)
	_ lifecycle.Tx = store.Tx(nil)
	_ importer.Tx  = store.Tx(nil)
)

// lifecycleStore lets the store's transactions serve as lifecycle's.
type lifecycleStore struct {
	lifecycle.Reader
	store store.Store
}

func (s lifecycleStore) Update(ctx context.Context, fn func(lifecycle.Tx) error) error {
	return s.store.Update(ctx, func(tx store.Tx) error { return fn(tx) })
}

// exclusive lets the engine's transactions serve as lifecycle's: both are the
// store's own.
type exclusive struct{ engine *turn.Engine }

func (x exclusive) Exclusive(ctx context.Context, c weir.ConversationID, fn func(lifecycle.Tx, int64) error) error {
	return x.engine.Exclusive(ctx, c, func(tx turn.Tx, fence int64) error { return fn(tx.(lifecycle.Tx), fence) })
}

// settings lets single values be read and made without a transaction in hand.
type settings struct{ store.Store }

func (s settings) InitSetting(ctx context.Context, name string, value []byte) ([]byte, error) {
	var stored []byte
	err := s.Update(ctx, func(tx store.Tx) (err error) {
		stored, err = tx.InitSetting(ctx, name, value)
		return err
	})
	return stored, err
}

// secretSetting returns a random key of the server's that is made once.
func secretSetting(ctx context.Context, s store.Store, name string) ([]byte, error) {
	key := make([]byte, 32)
	rand.Read(key) // never fails: crypto/rand aborts the program instead
	return settings{s}.InitSetting(ctx, name, key)
}

func ready(s store.Store) func(context.Context) error {
	return func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
		defer cancel()
		_, err := s.Setting(ctx, "gate_key")
		return err
	}
}

// importing lets the importer serve as the API's door for transcripts.
func importing(s store.Store, hub *live.Hub) api.Import {
	im := importer.New(importer.Config{Store: importer.Over[store.Tx](s), Live: hub, Now: time.Now})
	return func(ctx context.Context, a weir.Actor, o api.ImportOptions, transcript io.Reader) (any, error) {
		return im.Import(ctx, a, importer.Source{Name: o.File, Reader: transcript}, importer.Options{
			Format: o.Format, DryRun: o.DryRun, Visibility: weir.Visibility{Level: o.Level, Category: o.Category},
		})
	}
}

// toolbox lists a registry's tools for the API.
func toolbox(r *tool.Registry) func() ([]api.Tool, []api.ToolServer) {
	return func() ([]api.Tool, []api.ToolServer) {
		var servers []api.ToolServer
		from := map[string]string{}
		for _, s := range r.Servers() {
			servers = append(servers, api.ToolServer{Name: s.Name, State: s.State, Reason: s.Reason, Tools: s.Tools, LeftOut: s.LeftOut})
			for _, name := range s.Tools {
				from[name] = s.Name
			}
		}
		var tools []api.Tool
		for _, d := range r.Definitions() {
			tools = append(tools, api.Tool{
				Name: d.Name, Description: d.Description, InputSchema: d.InputSchema, Server: from[d.Name], Approval: r.Consent(d.Name),
			})
		}
		return tools, servers
	}
}

// rule lets a rule about a tool be set without a transaction in hand.
func rule(s store.Store) api.Rule {
	return func(ctx context.Context, r weir.ToolRule) error {
		return s.Update(ctx, func(tx store.Tx) error { return tx.PutToolRule(ctx, r) })
	}
}
