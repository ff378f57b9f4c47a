package browser

import (
	"bufio"
	"io"
	"strings"
)

// eventReader reads server-sent events as our server writes them.
type eventReader struct{ lines *bufio.Reader }

func newEventReader(r io.Reader) *eventReader {
	return &eventReader{bufio.NewReaderSize(r, 1<<20)}
}

func (r *eventReader) next() (name string, data []byte, err error) {
	for {
		text, err := r.lines.ReadString('\n')
		if err != nil {
			return "", nil, err
		}
		text = strings.TrimSuffix(text, "\n")
		switch {
		case text == "" && data != nil:
			return name, data, nil
		case strings.HasPrefix(text, "event: "):
			name = text[len("event: "):]
		case strings.HasPrefix(text, "data: "):
			data = []byte(text[len("data: "):])
		}
	}
}
