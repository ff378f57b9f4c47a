package cli

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"text/tabwriter"

	"weir"
	"weir/client"
)

type decision struct {
	Conversation string `arg:"" help:"Conversation of the call."`
	Call         string `arg:"" optional:"" help:"The call, by its id or a part of it; needed where more than one waits."`
	Remember     bool   `help:"Decide so about this tool from now on, without asking."`
}

type approveCmd struct{ decision }

func (cmd *approveCmd) Run(ctx context.Context, s *session) error {
	return cmd.decide(ctx, s, weir.Allow)
}

type denyCmd struct{ decision }

func (cmd *denyCmd) Run(ctx context.Context, s *session) error { return cmd.decide(ctx, s, weir.Deny) }

func (d *decision) decide(ctx context.Context, s *session, as weir.Decision) error {
	c, conv, err := s.at(ctx, d.Conversation)
	if err != nil {
		return err
	}
	call, others, err := waitingCall(ctx, c, string(conv.ID), d.Call)
	if err != nil {
		return err
	}
	done := map[weir.Decision]string{weir.Allow: "allowed", weir.Deny: "denied; the turn ends"}[as]
	if as == weir.Deny && others {
		done = "denied; the turn ends when the other calls are settled"
	}
	if call.Name != "" {
		done += ": " + callInWords(&call)
	}
	in := map[string]any{"decision": as}
	if d.Remember {
		in["remember"] = true
	}
	return s.act(ctx, http.MethodPost, client.Path("conversations", string(conv.ID), "approvals", call.Call), in, done)
}

// waitingCall finds the call that a person means: the only one that waits, or
// the one with that id or part of it. What is not there is the server's to say.
// Others says that more calls wait beside it.
func waitingCall(ctx context.Context, c *client.Client, conversation, name string) (call client.Call, others bool, err error) {
	var page client.Page[client.Call]
	if err := c.Do(ctx, http.MethodGet, client.Path("conversations", conversation, "approvals"), nil, nil, &page); err != nil {
		return call, false, err
	}
	open := slices.DeleteFunc(slices.Clone(page.Items), func(c client.Call) bool { return c.Decision != "" })
	others = len(open) > 1
	var found []client.Call
	for _, one := range page.Items {
		switch {
		case one.Call == name:
			return one, others, nil
		case one.Decision == "" && (name == "" || len(name) >= minPart && part(one.Call, name)):
			found = append(found, one)
		}
	}
	switch {
	case len(found) == 1:
		return found[0], others, nil
	case len(found) > 1:
		var lines strings.Builder
		for i := range found {
			fmt.Fprintf(&lines, "\n  %s  %s", found[i].Call, callInWords(&found[i]))
		}
		return call, false, fmt.Errorf("%d calls wait there; say which (name_ambiguous):%s", len(found), lines.String())
	case name == "":
		return call, false, fmt.Errorf("no call waits for a decision there (call_not_found)")
	}
	return client.Call{Call: name}, others, nil
}

func callInWords(c *client.Call) string { return oneLine(c.Name + " " + clipped(c.Input)) }

type toolsCmd struct {
	List toolsListCmd `cmd:"" default:"1" help:"List them, what is decided about their calls, and where they come from."`
	Rule toolsRuleCmd `cmd:"" help:"Decide about all calls of a tool from now on."`
}

type toolsRuleCmd struct {
	Tool     string        `arg:"" help:"The tool, as weir tools lists it."`
	Decision weir.Decision `arg:"" enum:"ask,allow,deny,default" help:"allow, deny or ask; default takes back what was decided, and the configuration counts."`
}

func (cmd *toolsRuleCmd) Run(ctx context.Context, s *session) error {
	done := "remembered"
	if cmd.Decision == "default" {
		done = "taken back; the configuration counts"
	}
	return s.act(ctx, http.MethodPut, client.Path("tools", cmd.Tool, "approval"), map[string]any{"decision": cmd.Decision}, done)
}

type toolsListCmd struct{}

func (cmd *toolsListCmd) Run(ctx context.Context, s *session) error {
	c, err := s.client()
	if err != nil {
		return err
	}
	var got rawItem[client.Tools]
	if err := c.Do(ctx, http.MethodGet, client.Path("tools"), nil, nil, &got); err != nil {
		return err
	}
	if s.JSON {
		_, err := fmt.Fprintf(s.io.Out, "%s\n", compact(got.raw))
		return err
	}
	out := tabwriter.NewWriter(s.io.Out, 0, 4, 2, ' ', 0)
	for _, t := range got.value.Items {
		rule := string(t.Approval)
		if t.Remembered != "" {
			rule = string(t.Remembered) + " (remembered)"
		}
		fmt.Fprintf(out, "%s\t%s\t%s\t%s\n", oneLine(t.Name), rule, oneLine(t.Server), oneLine(weir.Excerpt(t.Description)))
	}
	if err := out.Flush(); err != nil {
		return err
	}
	if len(got.value.Items) == 0 {
		fmt.Fprintln(s.io.Err, "no tools")
	}
	for _, sv := range got.value.Servers {
		if sv.State != "ready" {
			is := map[string]string{"failed": "has failed"}[sv.State]
			fmt.Fprintf(s.io.Err, "server %s %s", oneLine(sv.Name), cmp.Or(is, "is "+sv.State))
			if sv.Reason != "" {
				fmt.Fprintf(s.io.Err, ": %s", oneLine(sv.Reason))
			}
			fmt.Fprintln(s.io.Err)
		}
		for _, why := range sv.LeftOut {
			fmt.Fprintf(s.io.Err, "server %s: left out %s\n", oneLine(sv.Name), oneLine(why))
		}
	}
	return nil
}

type artefactCmd struct {
	Conversation string `arg:"" help:"Conversation of the tool's result."`
	Artefact     string `arg:"" help:"The artefact, as weir show names it."`
}

func (cmd *artefactCmd) Run(ctx context.Context, s *session) error {
	c, conv, err := s.at(ctx, cmd.Conversation)
	if err != nil {
		return err
	}
	var body []byte
	if err := c.Do(ctx, http.MethodGet, client.Path("conversations", string(conv.ID), "artefacts", cmd.Artefact), nil, nil, &body); err != nil {
		return err
	}
	if s.io.Terminal && !s.JSON {
		body = []byte(printable(string(body)))
	}
	_, err = s.io.Out.Write(body)
	return err
}
