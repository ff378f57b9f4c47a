// Command mcpconformance is the client that the official MCP conformance suite
// examines: it does over Weir's own MCP client what the scenario named by
// MCP_CONFORMANCE_SCENARIO asks for, at the address in its last argument, and
// says on standard error what it saw.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"time"

	"weir"
	"weir/tool"
	"weir/tool/mcp"
)

// scenarios are those that concern what Weir does over MCP: to greet a server,
// list its tools and call them over streamable HTTP. Each has the calls that
// it expects.
var scenarios = map[string]map[string]string{
	"initialize": {},
	"tools_call": {"suite__add_numbers": `{"a":5,"b":3}`},
	"sse-retry":  {"suite__test_reconnection": `{}`},
}

func main() {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt)
	defer cancel()
	ctx, stop := context.WithTimeout(ctx, 25*time.Second)
	defer stop()
	if err := run(ctx, os.Getenv("MCP_CONFORMANCE_SCENARIO"), os.Args[len(os.Args)-1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, scenario, url string) error {
	calls, ok := scenarios[scenario]
	if !ok {
		return fmt.Errorf("the scenario %q concerns nothing that Weir does", scenario)
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	client, err := mcp.New([]mcp.Config{{Name: "suite", URL: url, Approval: weir.Allow}}, log)
	if err != nil {
		return err
	}
	r, err := tool.NewRegistry(tool.Limits{})
	if err != nil {
		return err
	}
	r.AddSource(client)
	client.Start(ctx)
	defer client.Stop()
	if err := r.Ready(ctx); err != nil {
		return err
	}
	if s := r.Servers()[0]; s.State != tool.ServerReady {
		return fmt.Errorf("the server is not ready: %s", s.Reason)
	}
	for name, input := range calls {
		res := r.Run(ctx, name, tool.Call{ID: "1", Input: json.RawMessage(input)})
		fmt.Fprintf(os.Stderr, "%s(%s) = %q\n", name, input, res.Text)
		if res.IsError {
			return fmt.Errorf("the call of %s failed: %s", name, res.Text)
		}
	}
	return nil
}
