package sse

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

type seen struct {
	Name, Data string
}

func readAll(src io.Reader, limits Limits) ([]seen, error) {
	r := NewReader(src, limits)
	var all []seen
	for {
		e, err := r.Next()
		if err != nil {
			if _, again := r.Next(); again != err {
				return all, errors.New("the error changed on the next call")
			}
			return all, err
		}
		all = append(all, seen{e.Name, string(e.Data)})
	}
}

func TestAnEventIsWhatTheStandardSays(t *testing.T) {
	for name, c := range map[string]struct {
		in   string
		want []seen
	}{
		"one line":                        {"data: a\n\n", []seen{{"", "a"}}},
		"a name":                          {"event: x\ndata: a\n\n", []seen{{"x", "a"}}},
		"the name does not stick":         {"event: x\ndata: a\n\ndata: b\n\n", []seen{{"x", "a"}, {"", "b"}}},
		"a name without data is nothing":  {"event: x\n\ndata: b\n\n", []seen{{"", "b"}}},
		"several data lines":              {"data: a\ndata: b\ndata:\n\n", []seen{{"", "a\nb\n"}}},
		"an empty line of data first":     {"data:\ndata: b\n\n", []seen{{"", "\nb"}}},
		"only one space goes":             {"data:  a\n\ndata:b\n\n", []seen{{"", " a"}, {"", "b"}}},
		"a colon in the value":            {"data: {\"a\":1}\n\n", []seen{{"", `{"a":1}`}}},
		"data without a colon":            {"data\n\n", []seen{{"", ""}}},
		"comments, id, retry, unknown":    {": hi\nid: 7\nretry: 1\nfoo: bar\ndata: a\n:\n\n", []seen{{"", "a"}}},
		"CR":                              {"data: a\rdata: b\r\r", []seen{{"", "a\nb"}}},
		"CRLF":                            {"data: a\r\ndata: b\r\n\r\n", []seen{{"", "a\nb"}}},
		"mixed":                           {"data: a\r\ndata: b\rdata: c\n\r\ndata: d\n\r", []seen{{"", "a\nb\nc"}, {"", "d"}}},
		"a byte order mark":               {"\xef\xbb\xbfdata: a\n\n", []seen{{"", "a"}}},
		"a second one is part of a name":  {"\xef\xbb\xbf\xef\xbb\xbfdata: a\n\ndata: b\n\n", []seen{{"", "b"}}},
		"a space before the name":         {" data: a\n\n", nil},
		"blank lines":                     {"\n\n\r\n\r\n\ndata: a\n\n\n\n", []seen{{"", "a"}}},
		"an end without a blank line":     {"data: a\n\ndata: [DONE]\n", []seen{{"", "a"}, {"", "[DONE]"}}},
		"an unfinished line is not known": {"data: a\n\ndata: [DO", []seen{{"", "a"}}},
		"a half event before it is":       {"data: a\ndata: b", []seen{{"", "a"}}},
		"nothing":                         {"", nil},
		"letters of every script":         {"data: 中文 👨‍👩‍👧\n\n", []seen{{"", "中文 👨‍👩‍👧"}}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, src := range []io.Reader{
				strings.NewReader(c.in), iotest.OneByteReader(strings.NewReader(c.in)),
				iotest.DataErrReader(strings.NewReader(c.in)), iotest.HalfReader(strings.NewReader(c.in)),
			} {
				got, err := readAll(src, Limits{})
				if err != io.EOF {
					t.Fatalf("ended with %v", err)
				}
				if d := cmp.Diff(c.want, got); d != "" {
					t.Error(d)
				}
			}
		})
	}
}

func TestAnEventIsThereBeforeTheNextByte(t *testing.T) {
	for _, end := range []string{"\n\n", "\r\n\r", "\r\r"} {
		pr, pw := io.Pipe()
		r := NewReader(pr, Limits{})
		go io.WriteString(pw, "data: a"+end) // and no more
		if e, err := r.Next(); err != nil || string(e.Data) != "a" {
			t.Errorf("%q: %q, %v", end, e.Data, err)
		}
		pw.Close()
	}
}

func TestWhatIsTooLongEndsTheReading(t *testing.T) {
	small := Limits{Line: 100, Event: 150, Stream: 1000}
	for name, c := range map[string]struct {
		in   string
		want error
	}{
		"a line within":             {"data: " + strings.Repeat("x", 94) + "\n\n", io.EOF},
		"a line without an end":     {strings.Repeat("x", 50<<10), ErrTooLong},
		"an event of many lines":    {strings.Repeat("data: 0123456789\n", 20) + "\n", ErrTooLong},
		"a stream of many events":   {strings.Repeat("data: 0123456789\n\n", 100), ErrTooLong},
		"a stream of comments only": {strings.Repeat(":\n", 1000), ErrTooLong},
	} {
		if _, err := readAll(iotest.OneByteReader(strings.NewReader(c.in)), small); err != c.want {
			t.Errorf("%s: ended with %v", name, err)
		}
	}
}

func TestAFailingSourceIsSeenAfterWhatCame(t *testing.T) {
	broken := errors.New("broken")
	got, err := readAll(io.MultiReader(strings.NewReader("data: a\n\ndata: b\n"), iotest.ErrReader(broken)), Limits{})
	if err != broken {
		t.Fatalf("ended with %v", err)
	}
	if d := cmp.Diff([]seen{{"", "a"}}, got); d != "" {
		t.Error(d)
	}
}

// pieces returns the bytes cut where the cuts say.
type pieces struct {
	rest []byte
	cuts []byte
}

func (p *pieces) Read(b []byte) (int, error) {
	if len(p.rest) == 0 {
		return 0, io.EOF
	}
	n := len(p.rest)
	if len(p.cuts) > 0 {
		n, p.cuts = min(n, 1+int(p.cuts[0])%7), p.cuts[1:]
	}
	n = copy(b, p.rest[:n])
	p.rest = p.rest[n:]
	return n, nil
}

func TestHowTheBytesWereCutMakesNoDifference(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := rapid.SliceOf(rapid.SampledFrom([]string{"data: ", "event: ", ":", "\n", "\r", "\r\n", "x", "é", "\xef\xbb\xbf", "data", " "})).Draw(t, "in")
		cuts := rapid.SliceOf(rapid.Byte()).Draw(t, "cuts")
		all := []byte(strings.Join(in, ""))
		limits := Limits{
			Line:   rapid.SampledFrom([]int{0, 10, 30}).Draw(t, "line"),
			Event:  rapid.SampledFrom([]int{0, 10, 30}).Draw(t, "event"),
			Stream: rapid.SampledFrom([]int64{0, 10, 50}).Draw(t, "stream"),
		}
		want, wantErr := readAll(bytes.NewReader(all), limits)
		got, err := readAll(&pieces{all, cuts}, limits)
		if err != wantErr {
			t.Fatalf("%v, whole %v", err, wantErr)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Fatal(d)
		}
	})
}

// naive is the standard's algorithm on a whole string, without care for cost.
func naive(in string) (events []seen) {
	in = strings.TrimPrefix(in, "\xef\xbb\xbf")
	in = strings.ReplaceAll(strings.ReplaceAll(in, "\r\n", "\n"), "\r", "\n")
	lines := strings.Split(in, "\n")
	var e seen
	var data []string
	for _, line := range lines[:len(lines)-1] {
		if line == "" {
			if data != nil {
				events = append(events, seen{e.Name, strings.Join(data, "\n")})
			}
			e, data = seen{}, nil
			continue
		}
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch name {
		case "data":
			data = append(data, value)
		case "event":
			e.Name = value
		}
	}
	if data != nil {
		events = append(events, seen{e.Name, strings.Join(data, "\n")})
	}
	return events
}

func FuzzReader(f *testing.F) {
	f.Add([]byte("event: x\r\ndata: a\r\ndata: b\r\n\r\n: c\n\ndata\n\n"), []byte{1, 0, 3})
	f.Add([]byte("\xef\xbb\xbfdata: [DONE]\r"), []byte{0, 0, 0, 1, 1, 1, 1})
	f.Add([]byte("data: {\"a\":\"\xff\"}\n\n\x00data: b\n\n"), []byte{6})
	f.Fuzz(func(t *testing.T, in, cuts []byte) {
		if len(in) > 1<<16 || len(cuts) > 1<<12 {
			return
		}
		want := naive(string(in))
		for _, src := range []io.Reader{bytes.NewReader(in), &pieces{in, cuts}, iotest.OneByteReader(bytes.NewReader(in))} {
			got, err := readAll(src, Limits{})
			if err != io.EOF {
				t.Fatalf("ended with %v", err)
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Fatal(d)
			}
		}
	})
}
