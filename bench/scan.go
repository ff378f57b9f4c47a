package main

import (
	"context"
	"strings"

	"weir/mention"
)

var mentionScan = row{
	name: "mention scan of 1 MB of @[", reference: "the same of 1 MB of letters", bound: "3×",
	run: func(context.Context, string) (result, error) {
		hostile, letters := strings.Repeat("@[", 500_000), strings.Repeat("ab", 500_000)
		parse := func(text string) func(int) error {
			return func(int) error { _, err := mention.Parse(text); return err }
		}
		ours, reference, err := medians(41, parse(hostile), parse(letters))
		return times(ours, reference, ""), err
	},
}
