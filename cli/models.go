package cli

import (
	"context"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"weir"
	"weir/client"
)

type modelsCmd struct {
	Ls      modelsLsCmd      `cmd:"" default:"withargs" help:"List the models that can answer."`
	Refresh modelsRefreshCmd `cmd:"" help:"Ask every configured provider what models it has, and keep what it says."`
}

type modelsLsCmd struct {
	All bool `help:"Those too that cannot answer: their provider is not configured, or has retired them."`
}

func (cmd *modelsLsCmd) Run(ctx context.Context, s *session) error {
	type model struct {
		ID            string `json:"id"`
		Usable        bool   `json:"usable"`
		Default       bool   `json:"default"`
		ContextWindow int64  `json:"context_window"`
		MaxOutput     int64  `json:"max_output"`
		Lifecycle     string `json:"lifecycle"`
		Prices        *struct {
			Input  float64 `json:"input"`
			Output float64 `json:"output"`
		} `json:"prices"`
	}
	query := url.Values{}
	if !cmd.All {
		query.Set("usable", "true")
	}
	return list(ctx, s, client.Path("models"), query, 100_000, func(w io.Writer, m *model) {
		var marks []string
		if m.Default {
			marks = append(marks, "default")
		}
		if !m.Usable {
			marks = append(marks, "not usable")
		}
		if m.Lifecycle != "" && m.Lifecycle != "active" {
			marks = append(marks, m.Lifecycle)
		}
		price := ""
		if m.Prices != nil {
			price = fmt.Sprintf("$%s in, $%s out per million", strconv.FormatFloat(m.Prices.Input, 'f', -1, 64), strconv.FormatFloat(m.Prices.Output, 'f', -1, 64))
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", m.ID, tokens(m.ContextWindow), price, strings.Join(marks, ", "))
	})
}

// tokens says a limit, nothing where it is not known.
func tokens(n int64) string {
	switch {
	case n <= 0:
		return ""
	case n%1000 == 0:
		return fmt.Sprintf("%dK tokens", n/1000)
	}
	return fmt.Sprintf("%d tokens", n)
}

type modelsRefreshCmd struct{}

func (cmd *modelsRefreshCmd) Run(ctx context.Context, s *session) error {
	c, err := s.client()
	if err != nil {
		return err
	}
	type refreshed struct {
		Provider, Outcome, Detail string
		Models, Others            int
		Added, Changed, Retired   []string
		Missing                   []string
	}
	var page client.Page[rawItem[refreshed]]
	if err := c.Do(ctx, http.MethodPost, client.Path("models", "refresh"), nil, nil, &page); err != nil {
		return err
	}
	for i := range page.Items {
		if s.JSON {
			fmt.Fprintf(s.io.Out, "%s\n", compact(page.Items[i].raw))
			continue
		}
		r := &page.Items[i].value
		if r.Outcome != "listed" {
			fmt.Fprintf(s.io.Out, "%s: %s\n", r.Provider, oneLine(r.Detail))
			continue
		}
		fmt.Fprintf(s.io.Out, "%s: lists %d models", r.Provider, r.Models)
		if r.Others > 0 {
			fmt.Fprintf(s.io.Out, ", %d of them not offered by themselves", r.Others)
		}
		fmt.Fprintln(s.io.Out)
		for _, part := range []struct {
			what string
			ids  []string
		}{{"new", r.Added}, {"changed", r.Changed}, {"retired", r.Retired}, {"not in the list", r.Missing}} {
			for _, id := range part.ids {
				fmt.Fprintf(s.io.Out, "  %s: %s\n", part.what, oneLine(id))
			}
		}
	}
	if len(page.Items) == 0 && !s.JSON {
		fmt.Fprintln(s.io.Err, "no provider is configured")
	}
	return nil
}

// spending adds up what steps cost.
type spending struct {
	sum            big.Rat
	known, unknown int
}

// add takes a step in and says what it cost; nothing where it is not known.
func (s *spending) add(u *weir.Usage) string {
	if u == nil {
		return ""
	}
	cost, ok := new(big.Rat).SetString(u.Cost)
	if u.Cost == "" || !ok {
		s.unknown++
		return ""
	}
	s.known++
	s.sum.Add(&s.sum, cost)
	return "$" + u.Cost
}

// say says the sum, if anything is known of it.
func (s *spending) say(w io.Writer) {
	if s.known == 0 {
		return
	}
	sum := strings.TrimRight(strings.TrimRight(s.sum.FloatString(12), "0"), ".")
	fmt.Fprintf(w, "these cost $%s", sum)
	if s.unknown > 0 {
		fmt.Fprintf(w, " and those whose cost is not known (%d)", s.unknown)
	}
	fmt.Fprintln(w)
}
