package fact

import (
	"encoding/json"
	"errors"
	"fmt"
)

// baseline, update and removed call a fact's renderers: a panic is an error
// like any other, and so is empty text.

func (f *Fact) baseline(v json.RawMessage) (string, error) {
	return f.render(func() (string, error) { return f.Baseline(v) })
}

func (f *Fact) update(prev, v json.RawMessage) (string, error) {
	return f.render(func() (string, error) { return f.Update(prev, v) })
}

func (f *Fact) removed(prev json.RawMessage) (string, error) {
	return f.render(func() (string, error) { return f.Removed(prev) })
}

func (f *Fact) entry(v json.RawMessage) (Entry, error) {
	text, err := f.removed(v)
	return Entry{Value: v, Removal: text}, err
}

// knows reports whether a value that was told once is still one of the fact's.
func (f *Fact) knows(v json.RawMessage) bool {
	_, err := f.baseline(v)
	return err == nil
}

func (f *Fact) render(do func() (string, error)) (text string, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panicked: %v", p)
		}
		if err == nil && text == "" {
			err = errors.New("gave no text")
		}
		if err != nil {
			text, err = "", fmt.Errorf("fact: render %s: %w", f.Key, err)
		}
	}()
	return do()
}
