package modelview

import (
	"context"
	"strings"

	"weir"
	"weir/model"
)

// Source is what a window reads: a part of the store's Reader.
type Source interface {
	Records(ctx context.Context, c *weir.Conversation, q weir.RecordQuery) ([]weir.Record, error)
	Structure(ctx context.Context, c *weir.Conversation) ([]weir.Record, error)
	Views(ctx context.Context, c *weir.Conversation, lowering string, from, upto weir.Seq) ([]weir.View, error)
}

// Lowerer turns transcripts into requests. It never changes.
type Lowerer struct{ dialects []Dialect }

// New returns a Lowerer for the given dialects, or for all built-in ones. Of
// several versions of a dialect the last one is for new conversations; the
// others are for those that were begun with them.
func New(dialects ...Dialect) *Lowerer {
	if len(dialects) == 0 {
		dialects = []Dialect{Anthropic(), OpenAIChat(), OpenAIResponses(), Gemini()}
	}
	return &Lowerer{dialects: dialects}
}

// Window returns a cold window on a conversation, for one holder.
func (l *Lowerer) Window(c *weir.Conversation) *Window {
	copied := *c
	return &Window{lowerer: l, conversation: &copied}
}

// lowering is a way to render records. key names the views it makes. Only
// heads need a profile: a lowering that was parsed from a key has none.
type lowering struct {
	dialect Dialect
	mode    Mode
	key     string
	profile model.Profile
}

// detached is added to the key, with the epoch's own mark, for records from
// before the epoch in force. They stand behind another head than before and in
// other company (a compaction leaves some out), so answers go without signed
// reasoning, unless the bytes before them are the same all the same, and the
// ids of calls are made anew. Within one epoch that company never changes.
const detached = "~"

// choose returns the lowering for a profile. A conversation whose last request
// used an older version of the same dialect, mode and model stays with it.
func (l *Lowerer) choose(p model.Profile, unsigned weir.Seq, last string) (lowering, error) {
	mode := modeOf(p)
	mode.Unsigned = unsigned
	id := p.ID
	if _, name, _ := strings.Cut(p.ID, "/"); name != p.Name {
		id += "=" + p.Name // frozen heads hold the name, so it is part of the key
	}
	var found *lowering
	for _, d := range l.dialects {
		if name, _, _ := strings.Cut(d.Tag(), "/"); name != string(p.Dialect) {
			continue
		}
		found = &lowering{dialect: d, mode: mode, profile: p,
			key: d.Tag() + "+" + mode.String() + "@" + id}
		if found.key == last {
			break
		}
	}
	if found == nil {
		return lowering{}, weir.Fault(weir.Unprocessable, "model_dialect_unknown",
			"The model %s speaks the dialect %q, which this server does not; choose another model.", p.ID, p.Dialect)
	}
	return *found, nil
}

// parse returns the lowering that a key names, if its dialect is known.
func (l *Lowerer) parse(key string) (lowering, bool) {
	tag, rest, _ := strings.Cut(key, "+")
	mode, _, ok := strings.Cut(rest, "@")
	if !ok {
		return lowering{}, false
	}
	for _, d := range l.dialects {
		if d.Tag() == tag {
			m, ok := parseMode(mode)
			return lowering{dialect: d, mode: m, key: key}, ok
		}
	}
	return lowering{}, false
}

// target is the model that a key is for.
func target(key string) string {
	_, target, _ := strings.Cut(key, "@")
	return target
}

// cacheKey is the conversation at the root of those that share a prefix.
func cacheKey(c *weir.Conversation) string {
	root := c.ID
	for i := len(c.Lineage) - 1; i >= 0 && c.Lineage[i].Upto > 0; i-- {
		root = c.Lineage[i].Conversation
	}
	return string(root)
}
