// Command bench measures what Weir promises about speed, each against a
// reference in the same run, and prints ratios: the machine cancels out. It
// says which bound each ratio has; it fails nothing, because a busy machine is
// not a defect. With -run WORD only the rows whose name contains WORD run.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// row is one promise: Run measures ours and the reference's time (or rate)
// and says what else there is to know.
type row struct {
	name      string
	reference string
	bound     string
	run       func(ctx context.Context, dir string) (result, error)
}

type result struct {
	ours, reference float64 // the same unit
	unit            string
	ratio           float64
	note            string
}

// times makes the result of two durations: how many times the reference we take.
func times(ours, reference time.Duration, note string) result {
	return result{
		ours: float64(ours.Nanoseconds()) / 1e3, reference: float64(reference.Nanoseconds()) / 1e3,
		unit: "µs", ratio: float64(ours) / float64(reference), note: note,
	}
}

func rows() []row {
	all := append([]row{admission, groupCommit}, requests()...)
	return append(all, turnCPU, turnRows, mentionScan, candidatesRare, candidatesCommon, branchNoticed, instructionsNoticed)
}

func main() {
	only := flag.String("run", "", "only rows whose name contains this")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	fmt.Printf("%s, %s/%s, %d CPUs\n\n", runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU())
	w := tabwriter.NewWriter(os.Stdout, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "what\tours\treference\tratio\tat most\treference is\tnote")
	failed := false
	for _, r := range rows() {
		if !strings.Contains(r.name, *only) {
			continue
		}
		fmt.Fprintf(os.Stderr, "… %s\n", r.name)
		res, err := measure(ctx, r)
		if err != nil {
			failed = true
			fmt.Fprintf(w, "%s\tfailed: %v\n", r.name, err)
			continue
		}
		fmt.Fprintf(w, "%s\t%.1f %s\t%.1f %s\t%.2f×\t%s\t%s\t%s\n", r.name, res.ours, res.unit, res.reference, res.unit, res.ratio, r.bound, r.reference, res.note)
	}
	w.Flush()
	if failed {
		os.Exit(1)
	}
}

func measure(ctx context.Context, r row) (result, error) {
	dir, err := os.MkdirTemp("", "weir-bench-*")
	if err != nil {
		return result{}, err
	}
	defer os.RemoveAll(dir)
	return r.run(ctx, dir)
}

// median runs fn n times and returns the middle duration.
func median(n int, fn func(i int) error) (time.Duration, error) {
	d, _, err := medians(n, fn, func(int) error { return nil })
	return d, err
}

// medians runs two functions n times in turn, so that what the machine does
// meanwhile hits both, and returns the middle duration of each.
func medians(n int, a, b func(i int) error) (time.Duration, time.Duration, error) {
	both := [2][]time.Duration{make([]time.Duration, n), make([]time.Duration, n)}
	for i := range n {
		for j, fn := range []func(int) error{a, b} {
			begin := time.Now()
			if err := fn(i); err != nil {
				return 0, 0, err
			}
			both[j][i] = time.Since(begin)
		}
	}
	slices.Sort(both[0])
	slices.Sort(both[1])
	return both[0][n/2], both[1][n/2], nil
}
