package wire

import (
	"encoding/json"

	"weir"
	"weir/model"
)

// Keyword is a word that is empty where a server sends something else, or an
// object that has it as its state or status.
type Keyword string

// UnmarshalJSON implements [json.Unmarshaler].
func (k *Keyword) UnmarshalJSON(raw []byte) error {
	var word string
	if json.Unmarshal(raw, &word) == nil {
		*k = Keyword(word)
		return nil
	}
	var object struct{ State, Status, Stage string }
	if json.Unmarshal(raw, &object) == nil {
		*k = Keyword(object.State + object.Status + object.Stage)
	}
	return nil
}

// Lifecycle is what the word says of a model; empty for any other word.
func (k Keyword) Lifecycle() model.Lifecycle {
	switch l := model.Lifecycle(k); l {
	case model.Active, model.Deprecated, model.Retired:
		return l
	}
	return ""
}

// Sound returns the models of a list that have a name which can be part of an
// id, each once and no more than are taken.
func Sound(all []model.Listed) []model.Listed {
	seen := map[string]bool{}
	kept := make([]model.Listed, 0, len(all))
	for _, l := range all {
		if l.Name == "" || len(l.Name) > weir.MaxIDBytes/2 || !weir.ValidID(l.Name) || seen[l.Name] || len(kept) == model.MaxListed {
			continue
		}
		seen[l.Name] = true
		kept = append(kept, l)
	}
	return kept
}
