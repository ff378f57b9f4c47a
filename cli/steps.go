package cli

import (
	"fmt"
	"strconv"

	"weir"
	"weir/client"
)

// outcomeInWords says how a step ended, with the code of one that failed.
func outcomeInWords(st *client.Step) string {
	if st.Code == "" {
		return string(st.State)
	}
	return string(st.State) + ": " + st.Code
}

// prefixInWords says how a request stands to the one before it.
func prefixInWords(l *weir.Ledger) string {
	if l.SHA256 == "" {
		return "not sent"
	}
	share := int64(0)
	if l.PrefixBytes > 0 {
		share = l.Shared * 100 / l.PrefixBytes
	}
	sizes := fmt.Sprintf("%s of %s bytes (%d %%) as before", grouped(l.Shared), grouped(l.PrefixBytes), share)
	switch l.Reason {
	case "":
		return sizes + ": extends it"
	case weir.BreakFirst:
		return grouped(l.PrefixBytes) + " bytes: the first"
	}
	return sizes + ": " + breakInWords(l.Reason)
}

func breakInWords(r weir.BreakReason) string {
	switch r {
	case weir.BreakCompaction:
		return "what came before was summed up"
	case weir.BreakRewind:
		return "rewound, or a rewind taken back"
	case weir.BreakModel:
		return "made afresh for the model, or without what it refused"
	case weir.BreakTools:
		return "a new epoch"
	case weir.BreakOptions:
		return "other options"
	case weir.BreakRedaction:
		return "something was removed on purpose"
	case weir.BreakOpenSection:
		return "more came before it was answered"
	case weir.BreakDefect:
		return "a DEFECT of this program: bytes moved that must not"
	}
	return string(r)
}

// tokensInWords says what a step took, as the provider counts.
func tokensInWords(u *weir.Usage) string {
	if u == nil {
		return ""
	}
	in := u.Fresh + u.Read + u.Write
	if in == 0 {
		return grouped(u.Output) + " tokens out"
	}
	return fmt.Sprintf("%s tokens in (%d %% from the cache, %s written to it), %s out", grouped(in), u.Read*100/in, grouped(u.Write), grouped(u.Output))
}

// grouped spells a number with a comma between thousands.
func grouped(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
