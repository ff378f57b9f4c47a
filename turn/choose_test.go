package turn_test

import (
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"weir"
	"weir/turn"
)

// inbox makes inputs of letters: s a steer, q a queued one, n a notice, r a retry,
// e a new epoch.
func inbox(letters string) []weir.Input {
	var all []weir.Input
	for i, l := range letters {
		in := weir.Input{ID: weir.InputID(string(l) + strconv.Itoa(i)), Kind: weir.InputUser, Delivery: weir.Steer}
		switch l {
		case 'q':
			in.Delivery = weir.Queue
		case 'n':
			in.Kind, in.Delivery = weir.InputNotice, weir.Queue
		case 'r':
			in.Kind, in.Delivery = weir.InputRetry, weir.Queue
		case 'e':
			in.Kind, in.Delivery = weir.InputEpoch, weir.Queue
		}
		all = append(all, in)
	}
	return all
}

func TestWhatIsPromotedFollowsTheTable(t *testing.T) {
	for _, c := range []struct {
		pending  string
		mustGoOn bool
		want     string // ids
	}{
		{"", false, ""},
		{"", true, ""},
		{"ss", true, "s0 s1"},
		{"qsq", true, "s1"},
		{"qq", true, ""},
		{"rs", true, ""},
		{"srs", true, "s0"},
		{"qsqs", false, "s1 s3"},
		{"qq", false, "q0"},
		{"qrs", false, "q0"},
		{"rsq", false, "r0"},
		{"srq", false, "s0"},
		{"qn", false, "n1"},
		{"es", true, ""},
		{"ses", true, "s0"},
		{"qes", false, "q0"},
		{"esr", false, "e0"},
		{"re", false, "r0"},
		{"sqe", false, "s0"},
		{"neq", false, "n0"},
	} {
		messages, control := turn.Choose(inbox(c.pending), c.mustGoOn)
		got := ""
		for _, in := range messages {
			got += " " + string(in.ID)
		}
		if control != nil {
			got += " " + string(control.ID)
		}
		if got != "" {
			got = got[1:]
		}
		if got != c.want {
			t.Errorf("of %q, must go on %v: %q is promoted, want %q", c.pending, c.mustGoOn, got, c.want)
		}
	}
}

func control(in weir.Input) bool { return in.Kind == weir.InputRetry || in.Kind == weir.InputEpoch }

// The rows of the table: what must hold of any inbox.
func TestEveryRowOfTheTableHoldsOfAnyInbox(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pending := inbox(rapid.StringMatching(`[sqnre]{0,12}`).Draw(t, "pending"))
		mustGoOn := rapid.Bool().Draw(t, "mustGoOn")
		var steers, queued []weir.Input // before the first control
		var barrier *weir.Input
		for i, in := range pending {
			if control(in) {
				barrier = &pending[i]
				break
			}
			if in.Delivery == weir.Steer || in.Kind == weir.InputNotice {
				steers = append(steers, in)
			} else {
				queued = append(queued, in)
			}
		}
		messages, ctl := turn.Choose(pending, mustGoOn)
		var want []weir.Input
		var wantControl *weir.Input
		switch {
		case mustGoOn, len(steers) > 0:
			want = steers
		case len(queued) > 0:
			want = queued[:1]
		default:
			wantControl = barrier
		}
		same := func(a, b weir.Input) bool { return a.ID == b.ID }
		if !slices.EqualFunc(messages, want, same) {
			t.Fatalf("promoted %v, want %v", messages, want)
		}
		if (ctl == nil) != (wantControl == nil) || ctl != nil && ctl.ID != wantControl.ID {
			t.Fatalf("the control is %v, want %v", ctl, wantControl)
		}
	})
}

func TestNothingPassesAControlAndNothingIsLeftBehind(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pending := inbox(rapid.StringMatching(`[sqnre]{0,12}`).Draw(t, "pending"))
		var order []int
		place := map[weir.InputID]int{}
		for i, in := range pending {
			place[in.ID] = i
		}
		left := slices.Clone(pending)
		for len(left) > 0 {
			messages, control := turn.Choose(left, rapid.Bool().Draw(t, "mustGoOn"))
			if len(messages) == 0 && control == nil {
				messages, control = turn.Choose(left, false)
			}
			if len(messages) == 0 && control == nil {
				t.Fatalf("%d inputs are left and nothing is due", len(left))
			}
			if control != nil {
				messages = append(messages, *control)
			}
			if control != nil && len(messages) > 1 {
				t.Fatal("a control was promoted beside messages")
			}
			for _, in := range messages {
				order = append(order, place[in.ID])
				left = slices.DeleteFunc(left, func(l weir.Input) bool { return l.ID == in.ID })
			}
		}
		for i, at := range order {
			for _, later := range order[i+1:] {
				if later < at && (control(pending[later]) || control(pending[at])) {
					t.Fatalf("input %d passed %d across a control: %v", at, later, order)
				}
			}
		}
	})
}
