package app

import (
	"context"
	"encoding/json"
	"fmt"

	"weir"
	"weir/account"
	"weir/cli"
	"weir/modelview"
	"weir/store"
	"weir/turn"
)

// verify reads a store beside a running server, or without one, in one
// transaction, and says what differs from what must be.
func verify(ctx context.Context, where string, asJSON bool, streams *cli.IO) error {
	s, err := store.OpenReadOnly(ctx, where)
	if err != nil {
		return err
	}
	defer s.Close()
	var report turn.Report
	err = s.View(ctx, func(r store.Reader) error {
		owner, err := r.Setting(ctx, account.OwnerSetting)
		if err != nil {
			return fmt.Errorf("no server has ever started on this store (%w)", err)
		}
		report, err = turn.Verify(ctx, r, modelview.New(), weir.OwnerID(owner))
		return err
	})
	if err != nil {
		return err
	}
	if asJSON {
		out, err := json.Marshal(report)
		if err != nil {
			return err
		}
		fmt.Fprintf(streams.Out, "%s\n", out)
	} else {
		fmt.Fprintf(streams.Out, "%d conversations, %d records, %d requests rebuilt and equal, %d inputs pending, %d steps unsettled\n",
			report.Conversations, report.Records, report.Requests, report.Pending, report.Unsettled)
		for _, d := range report.Differences {
			fmt.Fprintf(streams.Out, "%s\t%d\t%s\t%s\n", d.Conversation, d.Seq, d.What, d.Detail)
		}
	}
	if n := len(report.Differences); n > 0 {
		return fmt.Errorf("%d differences (verify_differs)", n)
	}
	return nil
}
