package strictpeer

import (
	"crypto/sha256"
	"fmt"
	"hash"
	"io"
	"slices"
	"sync"
	"time"

	"weir/model/strict"
)

func sum(s string) digest { return sha256.Sum256([]byte(s)) }

// verifyItems checks all reasoning of a request and returns the bond of what is
// answered to it. Each item is bound to the exact bytes of the request that was
// answered with it, reasoning and breakpoints included, and to the reasoning
// before it in the same answer.
func (s signer) verifyItems(q *strict.Responses) (bond, *strict.Refusal) {
	h := sha256.New()
	itemsHead(h, q)
	var now bond
	answering := false
	for i := range q.Items {
		m := &q.Items[i]
		if m.Answers() && !answering {
			now = bond{}
			copy(now.prefix[:], h.Sum(nil))
		}
		answering = m.Answers()
		if m.Type == "reasoning" {
			signature := m.Value.Get("encrypted_content").Text(q.Body)
			b, ok := s.open("reasoning", m.ID+summary(q, m), signature)
			switch {
			case !ok:
				return now, unreadable(m.ID, "Encrypted content could not be decrypted or parsed.")
			case b != now:
				return now, unreadable(m.ID, "The item was made behind another prefix (prefix_mismatch).")
			}
			now.before = sum(signature)
		}
		h.Write(m.Value.Raw(q.Body))
		h.Write([]byte{','})
	}
	now = bond{}
	copy(now.prefix[:], h.Sum(nil))
	return now, nil
}

func unreadable(id, why string) *strict.Refusal {
	r := refusal("The encrypted content for item %s could not be verified. Reason: %s", id, why)
	r.Code = "invalid_encrypted_content"
	return r
}

func summary(q *strict.Responses, m *strict.Item) (text string) {
	list := m.Value.Get("summary")
	for i := range list.Elements {
		text += list.Elements[i].Get("text").Text(q.Body)
	}
	return text
}

// itemsHead writes what stands before the items.
func itemsHead(h hash.Hash, q *strict.Responses) {
	for _, name := range []string{"model", "instructions", "tools"} {
		fmt.Fprintf(h, "%s:%s\n", name, q.Root.Get(name).Raw(q.Body))
	}
}

// The numbers of the vendor's cache of breakpoints.
const (
	breakpointsRead    = 80 // of a request, that are looked for
	breakpointsWritten = 4  // of a request, the implicit one included
	breakpointTime     = 30 * time.Minute
)

// breakCache is the vendor's cache of prefixes that end at a breakpoint: those
// that a request names, and the end of its latest message. Nothing is read up
// to any other place, and nothing without a key.
type breakCache struct {
	mu      sync.Mutex
	entries map[digest]time.Time // until when
}

// boundary is the prefix up to a place at which it may be cached.
type boundary struct {
	digest digest
	tokens int
	marked bool // by an explicit breakpoint
	latest bool // the end of the latest message
}

// reckon reads a request through the cache. What it wrote can be read as soon
// as store is called, when the answer begins.
func (c *breakCache) reckon(q *strict.Responses, minimum int, now time.Time) (u usage, store func()) {
	all, total := boundaries(q)
	if q.CacheKey == "" {
		return usage{fresh: total}, func() {}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	left := breakpointsWritten // explicit ones
	if !q.Explicit {
		left--
	}
	var read *boundary
	var kept []digest
	last := 0 // tokens up to the last one that is written
	for i := len(all) - 1; i >= 0; i-- {
		b := &all[i]
		if b.tokens < minimum {
			break
		}
		if until, ok := c.entries[b.digest]; ok && now.Before(until) && read == nil {
			read = b
			kept = append(kept, b.digest) // used, so kept
		}
		if !b.latest {
			if left == 0 {
				continue
			}
			left--
		}
		kept, last = append(kept, b.digest), max(last, b.tokens)
	}
	if read != nil {
		u.read = read.tokens
	}
	u.write = max(0, last-u.read)
	u.fresh = total - u.read - u.write
	return u, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		for _, d := range kept {
			c.entries[d] = now.Add(breakpointTime)
		}
	}
}

// boundaries returns the places of a request that are looked for, in their
// order: the latest explicit breakpoints, and the end of the latest message
// unless the request does not want that.
func boundaries(q *strict.Responses) (all []boundary, total int) {
	h := sha256.New()
	io.WriteString(h, q.CacheKey+"\n")
	itemsHead(h, q)
	for _, name := range []string{"instructions", "tools"} {
		total += tokens(len(q.Root.Get(name).Raw(q.Body)))
	}
	at := 0
	take := func(to int, marked, latest bool) {
		var count counter
		q.Unmarked(io.MultiWriter(h, &count), strict.Span{Start: at, End: to})
		at, total = to, total+tokens(int(count))
		b := boundary{tokens: total, marked: marked, latest: latest}
		copy(b.digest[:], h.Sum(nil))
		all = append(all, b)
	}
	for i := range q.Items {
		m := &q.Items[i]
		message := (m.Role == "user" || m.Type == "function_call_output") && !q.Explicit
		at = m.Value.Start
		for j, part := range m.Parts {
			take(part.End, part.Get("prompt_cache_breakpoint") != nil, message && j == len(m.Parts)-1)
		}
		take(m.Value.End, false, message && len(m.Parts) == 0)
	}
	latest := false
	for i, b := range slices.Backward(all) {
		all[i].latest = b.latest && !latest
		latest = latest || b.latest
	}
	all = slices.DeleteFunc(all, func(b boundary) bool { return !b.marked && !b.latest })
	return all[max(0, len(all)-breakpointsRead):], total
}
