package e2e

import (
	"fmt"
	"strings"
	"sync"
	"testing"
)

// TestOneTranscriptFourTimesAtOnceComesInOnce is about the words of those that
// were not first, and about what is there in the end.
func TestOneTranscriptFourTimesAtOnceComesInOnce(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		var lines []string
		for i := range 600 {
			lines = append(lines, fmt.Sprintf(`{"type":"user","uuid":"u%d","sessionId":"s1","timestamp":"2026-01-02T03:04:05Z","message":{"content":"text"}}`, i))
		}
		bring := func(query string) answer {
			return w.do(ask{method: "POST", path: "/v1/imports" + query, body: strings.Join(lines, "\n"), header: map[string]string{"Content-Type": "application/x-ndjson"}})
		}
		var all sync.WaitGroup
		answers := make([]answer, 4)
		for i := range answers {
			all.Go(func() { answers[i] = bring("") })
		}
		all.Wait()
		for _, a := range answers {
			switch a.status {
			case 200:
			case 409:
				a.problem(409, "import_raced")
			default:
				a.problem(503, "imports_busy")
			}
		}
		if again := bring("").is(200).object(); again["added"].(float64)+again["known"].(float64) != 600 {
			t.Errorf("again: %v", again)
		}
		bring("?level=isolated").problem(409, "visibility_differs")
		bring("?level=isolated&dry_run=true").problem(409, "visibility_differs")
	})
}
