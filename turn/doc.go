// Package turn takes what people send and turns it into steps of a model:
// admission, promotion, the safe boundary, one model call at a time, the
// settlement of what it called, and the recovery of what a dead process left.
//
// Loss. When [Engine.Admit] returns, the input survives a power cut. It is
// promoted exactly once, in the order of the inbox. A step is settled exactly
// once; a crash loses at most a second of streamed text, never a record; what
// a tool had begun is never run a second time.
//
// Order. The log of a conversation is written by the holder of its lease
// alone, and every write names the lease's fence, so two processes cannot both
// write, whatever their clocks do. What others can see is published after the
// commit that made it true.
//
// Concurrency. An Engine may be used from any goroutine. It runs one drain a
// conversation, a bounded number at once; each drain, its lease's renewal and
// the watcher of its running step are goroutines of the Engine that [Engine.Stop]
// waits for. A ring starts a drain at once; the sweep, every two seconds, makes
// certain that a lost ring costs time and nothing else.
//
// Told. At each boundary all facts are observed once, outside the transaction
// that begins the step; in it the updates are appended after what was promoted,
// each once, in the order in which the changes happened. What the model was
// told is the log's to say: the epoch in force and the updates after it. A fact
// that cannot be observed delays a boundary by its deadline and holds up no
// other, except the very first baseline, which waits for what is required.
//
// Retries. What fails before any output is sent again, the same bytes in the
// same step, five times over a chain of steps; what breaks off amid its output
// is kept and gone on with in a new step. A step's row says what it waits for,
// and the wait outlives the process.
//
// Refusals. A request whose bytes a provider has judged and not taken is not
// sent a second time, whatever is retried: its step fails at once with the
// provider's reason, and anything that makes another request is tried. Where
// the reason is one that a request can do without (signed reasoning that is
// bound to something else, a system message in mid-conversation), the step
// fails with it and the next one goes without, by itself. What a model objects
// to is remembered of it; that it refused reasoning, of the conversation.
//
// Calls. A call is a row before it runs; a result is appended when it is there,
// in whatever order. A call that needs a person's consent is a row that waits:
// no process, lease or deadline is part of it. Where work is to go on after a
// step, the step's end is written together with what comes next, so that a
// crash between them leaves an unsettled step, which is due.
//
// Whether a conversation is due is decided in the transaction that would make
// it idle. After an interrupt it is not: its row says that it waits for a
// person ([weir.Waiting], for "resume") as long as inputs are pending, and the
// next admission or retry takes that mark away. An interrupt for the steers marks
// it so that they go on and nothing else does.
package turn
