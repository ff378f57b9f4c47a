// Command mcppeer is an MCP server written with another SDK than the one that
// Weir's client stands on, so that the two are not only at one with
// themselves. It is a module of its own: nothing of it reaches the product.
//
//	mcppeer               serves on standard input and output
//	mcppeer -http ADDR    serves http://ADDR/mcp and prints that address
package main

import (
	"context"
	"encoding/base64"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

func main() {
	address := flag.String("http", "", "address to serve on; standard input and output when empty")
	flag.Parse()
	if err := serve(*address); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func serve(address string) error {
	s := peer()
	if address == "" {
		return server.ServeStdio(s)
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.Handle("/mcp", server.NewStreamableHTTPServer(s, server.WithStateful(true)))
	fmt.Printf("http://%s/mcp\n", l.Addr())
	h := http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	return h.Serve(l)
}

func peer() *server.MCPServer {
	s := server.NewMCPServer("mcppeer", "1", server.WithToolCapabilities(true), server.WithPaginationLimit(2))
	text := func(name string, run func(context.Context, mcp.CallToolRequest) (string, error), o ...mcp.ToolOption) {
		s.AddTool(mcp.NewTool(name, append([]mcp.ToolOption{mcp.WithDescription("for tests")}, o...)...),
			func(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				out, err := run(ctx, r)
				if err != nil {
					return mcp.NewToolResultError(err.Error()), nil
				}
				return mcp.NewToolResultText(out), nil
			})
	}
	text("echo", func(_ context.Context, r mcp.CallToolRequest) (string, error) { return r.RequireString("text") },
		mcp.WithString("text", mcp.Required(), mcp.Description("what to say")))
	text("fail", func(context.Context, mcp.CallToolRequest) (string, error) { return "", errors.New("no such page") })
	text("die", func(context.Context, mcp.CallToolRequest) (string, error) { os.Exit(3); return "", nil })
	text("hang", func(ctx context.Context, _ mcp.CallToolRequest) (string, error) {
		fmt.Fprintln(os.Stderr, "hanging")
		<-ctx.Done()
		fmt.Fprintln(os.Stderr, "told to stop")
		return "", ctx.Err()
	})
	text("grow", func(context.Context, mcp.CallToolRequest) (string, error) {
		text("grown", func(context.Context, mcp.CallToolRequest) (string, error) { return "I am new.", nil })
		s.DeleteTools("fail")
		return "grown", nil
	})
	s.AddTool(mcp.NewTool("image"), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultImage("a picture", base64.StdEncoding.EncodeToString([]byte("1234")), "image/png"), nil
	})
	s.AddTool(mcp.NewTool("refuse"), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return nil, errors.New("not today")
	})
	return s
}
