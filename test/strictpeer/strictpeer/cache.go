package strictpeer

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"sync"
	"time"

	"weir/model/strict"
)

// A token is four bytes, rounded up for each block.
func tokens(n int) int { return (n + 3) / 4 }

// usage is what the dialects report, each in its own way.
type usage struct{ fresh, read, write, output int }

// lookback is how many blocks before a mark are asked for.
const lookback = 20

// markCache is the vendor's cache of prefixes that end at a mark.
type markCache struct {
	mu      sync.Mutex
	entries map[digest]time.Time // until when
}

// point is the prefix up to a block.
type point struct {
	digest digest
	tokens int // up to and with the block
	ttl    time.Duration
}

// reckon reads a request through the cache. What it wrote can be read as soon
// as store is called, when the answer begins.
func (c *markCache) reckon(q *strict.Request, minimum int, now time.Time) (u usage, store func()) {
	points := chain(q)
	c.mu.Lock()
	defer c.mu.Unlock()
	best, last := -1, -1
	for i, p := range points {
		if p.ttl == 0 || p.tokens < minimum {
			continue
		}
		last = i
		for j := i; j >= 0 && j > i-lookback; j-- {
			if until, ok := c.entries[points[j].digest]; ok && now.Before(until) {
				best = max(best, j)
				break
			}
		}
	}
	total := points[len(points)-1].tokens
	if best >= 0 {
		u.read = points[best].tokens
	}
	if last > best {
		u.write = points[last].tokens - u.read
	}
	u.fresh = total - u.read - u.write
	return u, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		for i, p := range points {
			if p.ttl > 0 && p.tokens >= minimum {
				c.entries[p.digest] = now.Add(p.ttl)
			}
			if i == best {
				if until := c.entries[p.digest]; until.Before(now.Add(5 * time.Minute)) {
					c.entries[p.digest] = now.Add(5 * time.Minute) // used, so kept
				}
			}
		}
	}
}

// chain returns the prefix up to each block, in the order of the hash: tools,
// system, messages. Options that change the messages' tier stand before it.
func chain(q *strict.Request) []point {
	var points []point
	at := sha256.Sum256([]byte(q.Model))
	total := 0
	add := func(role string, b *strict.Block) {
		h := sha256.New()
		h.Write(at[:])
		io.WriteString(h, role)
		var count counter
		q.Unmarked(io.MultiWriter(h, &count), b.Value.Span)
		copy(at[:], h.Sum(nil))
		total += tokens(int(count))
		p := point{digest: at, tokens: total}
		if b.Marked {
			p.ttl = ttl(q, b.Value.Get("cache_control"))
		}
		points = append(points, p)
	}
	for i := range q.Tools {
		add("tools", &q.Tools[i])
	}
	for i := range q.System {
		add("system", &q.System[i])
	}
	at = sha256.Sum256(fmt.Appendf(at[:], "%s %s", q.ToolChoice.Raw(q.Body), q.Thinking.Raw(q.Body)))
	for i := range q.Messages {
		for j := range q.Messages[i].Blocks {
			add(q.Messages[i].Role, &q.Messages[i].Blocks[j])
		}
	}
	if q.AutoMark {
		points[len(points)-1].ttl = ttl(q, q.Root.Get("cache_control"))
	}
	return points
}

func ttl(q *strict.Request, mark *strict.Value) time.Duration {
	if mark.Get("ttl").Text(q.Body) == "1h" {
		return time.Hour
	}
	return 5 * time.Minute
}

type counter int

func (c *counter) Write(b []byte) (int, error) { *c += counter(len(b)); return len(b), nil }

// recentPrompts is the other cache: the longest prefix that the prompt has in
// common with an earlier one of the same model, byte by byte.
type recentPrompts struct {
	mu   sync.Mutex
	list []prompt
}

type prompt struct {
	model           string
	tools, messages []byte // what stands before the messages, and these, without their end
}

// keep is how many prompts are remembered.
const keep = 256

// reckon reads a request through the cache and remembers it.
func (c *recentPrompts) reckon(now prompt, minimum, step int) usage {
	c.mu.Lock()
	defer c.mu.Unlock()
	best := 0
	for i := range c.list {
		best = max(best, now.common(&c.list[i]))
	}
	c.list = append(c.list, now)
	if len(c.list) > keep {
		c.list = c.list[1:]
	}
	u := usage{fresh: tokens(len(now.tools) + len(now.messages))}
	if cached := best / 4 / step * step; cached >= max(minimum, 1) {
		u.read = cached
		u.fresh -= cached
	}
	return u
}

// common is how many bytes two prompts share from their beginning.
func (p *prompt) common(o *prompt) int {
	if p.model != o.model || !bytes.Equal(p.tools, o.tools) {
		return 0
	}
	return len(p.tools) + sharedPrefix(p.messages, o.messages)
}

func sharedPrefix(a, b []byte) int {
	n := min(len(a), len(b))
	for low := 0; ; {
		// Whole pieces first: comparing them is much faster than bytes.
		const piece = 4096
		if low+piece <= n && bytes.Equal(a[low:low+piece], b[low:low+piece]) {
			low += piece
			continue
		}
		for low < n && a[low] == b[low] {
			low++
		}
		return low
	}
}
