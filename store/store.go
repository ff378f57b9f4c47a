// Package store keeps everything durable in SQL: SQLite on one machine,
// PostgreSQL when one machine is not enough, behind one seam with one
// conformance suite (store/storetest).
//
// Promises. Loss: when [Store.Update] returns nil its writes survive kill -9
// and power loss. Order: the store alone hands out seqs (dense, from 1, per
// conversation), input positions, flow ids and the journal's numbers, which
// grow in the order of commits. Concurrency: a write that names a fence fails
// with code "fenced" unless that fence is the conversation's current one; many
// Updates at once are grouped into one commit on SQLite.
// Methods may be called from any goroutine; a Tx only from the function that
// was given it. Times are kept to the microsecond and come back in UTC.
//
// Not promised: when Update returns an error of kind Unavailable from its
// commit, its writes may or may not be there.
package store

import (
	"context"
	"time"

	"weir"
)

// Reader is what can be asked, inside a transaction or outside one. Nothing
// found is an *weir.Error of kind NotFound.
type Reader interface {
	// Conversation returns a conversation; a deleted one with Deleted set.
	Conversation(ctx context.Context, id weir.ConversationID) (weir.Conversation, error)
	// Conversations lists an owner's, newest activity first, ties by id,
	// deleted ones left out. Of a walk by cursors: what does not change is met
	// exactly once, and nothing is met twice. What becomes active meanwhile
	// goes to the top, behind the walker's back; who watches is told of it.
	Conversations(ctx context.Context, q weir.ConversationQuery) (weir.Page[weir.Conversation], error)
	// Candidates returns possible sources, same workspace as the target first,
	// then newest activity first, ties by id; those in which nobody has said
	// anything yet come last. Kinds that cannot be a source, the target
	// itself, archived and deleted ones are left out. No workspace is not the
	// same workspace as none.
	Candidates(ctx context.Context, q weir.CandidateQuery) ([]weir.Conversation, error)
	// Descendants returns all conversations that descend from id, deleted ones too.
	Descendants(ctx context.Context, id weir.ConversationID) ([]weir.Conversation, error)

	// Records returns a part of c's log, the inherited part included.
	Records(ctx context.Context, c *weir.Conversation, q weir.RecordQuery) ([]weir.Record, error)
	// Structure returns the records that shape the surface (rewind, undo,
	// checkpoint, epoch) of c's log, in order. Of epochs it gives no more than
	// the SHA256; [Reader.Records] has their baselines, tools and snapshots.
	Structure(ctx context.Context, c *weir.Conversation) ([]weir.Record, error)
	// Message returns the record with this id in c's log.
	Message(ctx context.Context, c *weir.Conversation, id weir.MessageID) (weir.Record, error)
	// Views returns the frozen views of c's log from seq From on up to seq
	// upto, ascending; records without a view under the lowering are skipped.
	Views(ctx context.Context, c *weir.Conversation, lowering string, from, upto weir.Seq) ([]weir.View, error)

	Input(ctx context.Context, c weir.ConversationID, id weir.InputID) (weir.Input, error)
	// Inputs returns inputs in position order: all pending ones, and those
	// rejected among the newest limit.
	Inputs(ctx context.Context, c weir.ConversationID, limit int) ([]weir.Input, error)
	// PendingInputs returns the pending ones in position order.
	PendingInputs(ctx context.Context, c weir.ConversationID) ([]weir.Input, error)

	Step(ctx context.Context, c weir.ConversationID, id weir.StepID) (weir.Step, error)
	// Steps returns steps, newest first, those with Seq < before (0: all).
	Steps(ctx context.Context, c weir.ConversationID, before weir.Seq, limit int) ([]weir.Step, error)
	// RefusedSteps returns the steps of c and of what it inherits whose code is
	// one of [weir.RefusedCodes], in order.
	RefusedSteps(ctx context.Context, c *weir.Conversation) ([]weir.Step, error)
	// Lessons returns what was learnt of models, by model and objection.
	Lessons(ctx context.Context) ([]weir.Lesson, error)
	// UnsettledStep returns the running step, or NotFound.
	UnsettledStep(ctx context.Context, c weir.ConversationID) (weir.Step, error)
	// Due returns conversations with pending inputs or an unsettled step whose
	// lease is free or ran out. Those in state waiting are left out, whatever
	// is pending: a person goes on with them. They are due once a person has:
	// with a call that is waiting and decided, or an interrupt asked for.
	Due(ctx context.Context, limit int) ([]weir.ConversationID, error)

	// Calls returns a step's tool calls by ordinal.
	Calls(ctx context.Context, c weir.ConversationID, step weir.StepID) ([]weir.Call, error)
	// WaitingCalls returns the conversation's calls in state waiting, decided
	// or not, by ordinal.
	WaitingCalls(ctx context.Context, c weir.ConversationID) ([]weir.Call, error)
	// CallIDs returns those of the ids that a call of this conversation, or of
	// one that it inherits from, has.
	CallIDs(ctx context.Context, c *weir.Conversation, ids ...string) ([]string, error)
	// Artefact returns an artefact of c, or of an ancestor if a tool's result
	// in the inherited part of c's log names it.
	Artefact(ctx context.Context, c *weir.Conversation, id weir.ArtefactID) (weir.Artefact, error)
	// ToolRules returns an owner's rules, by tool.
	ToolRules(ctx context.Context, owner weir.OwnerID) ([]weir.ToolRule, error)

	// Changes returns the journal's entries of all these scopes with Seq >
	// after, ascending: the newest limit of them (0: all).
	Changes(ctx context.Context, scopes []weir.ChangeScope, after int64, limit int) ([]weir.Change, error)
	// NewestChange returns the newest entry of a fact in a scope.
	NewestChange(ctx context.Context, scope weir.ChangeScope, fact string) (weir.Change, error)
	// ClientFacts returns the facts that clients keep, scope by scope in the
	// order asked for, by key within each.
	ClientFacts(ctx context.Context, scopes ...weir.ChangeScope) ([]weir.ClientFact, error)

	Flows(ctx context.Context, q weir.FlowQuery) (weir.Page[weir.Flow], error)
	// FlowsOf returns the flows of an input, without outcomes.
	FlowsOf(ctx context.Context, c weir.ConversationID, in weir.InputID) ([]weir.Flow, error)

	// Answer returns the remembered answer for an Idempotency-Key. A store
	// that finds it older than 24 h forgets it.
	Answer(ctx context.Context, owner weir.OwnerID, route, key string) (weir.IdempotentAnswer, error)
	// Setting returns a server-wide value such as a key.
	Setting(ctx context.Context, name string) ([]byte, error)
}

// Tx is a Reader that can write. What it read stays true until it commits
// only for rows it locked.
type Tx interface {
	Reader

	// LockShared locks the rows of the conversations and of all their
	// ancestors against change, in id order, and fails NotFound for none.
	// Locks come first in a transaction: before anything is written, and never
	// LockForChange after LockShared.
	LockShared(ctx context.Context, ids ...weir.ConversationID) error
	// LockForChange locks a conversation's row and its descendants' exclusively.
	LockForChange(ctx context.Context, id weir.ConversationID) error

	// InsertConversation adds one and fills in what the store determines; its
	// Generation must be set, LastActive is CreatedAt unless given. Conflict
	// with code "conversation_exists" for a known id, "main_exists" for a
	// second main.
	InsertConversation(ctx context.Context, c *weir.Conversation) error
	ChangeConversation(ctx context.Context, id weir.ConversationID, ch weir.ConversationChange) error
	ChangeActivity(ctx context.Context, id weir.ConversationID, a weir.Activity) error
	// DeleteBodies removes a conversation's title, workspace, model, agent and
	// origin, its inputs, steps and calls, the facts and the journal of its own
	// scope, its own records with their views and artefacts, and the remembered
	// answers that name it, and leaves a tombstone. With keep > 0 the records
	// up to it, their views and the artefacts they name stay for branches. It
	// may be repeated with a lower keep.
	DeleteBodies(ctx context.Context, id weir.ConversationID, keep weir.Seq) error

	// Append adds records at the end, numbers them and returns them; Time,
	// Generation and ID must be set, Conversation is id. It fails with
	// "fenced" unless fence is the lease's current one, with "moved_on" when
	// head is not nil and *head is not the newest seq, and with
	// "message_exists" for a known id. What users and assistants said moves
	// LastActive forward to their time.
	Append(ctx context.Context, id weir.ConversationID, fence int64, head *weir.Seq, records ...weir.Record) ([]weir.Record, error)
	// PutViews stores views; the first write of (conversation, seq, lowering) wins.
	PutViews(ctx context.Context, fence int64, c weir.ConversationID, views ...weir.View) error

	// InsertInput adds an input and sets its Position. Conflict with code
	// "input_conflict" for a known id.
	InsertInput(ctx context.Context, in *weir.Input) error
	// UpdateInput replaces the content and state of a pending input where its
	// stored revision is revision; in.Revision is what it becomes. Else
	// "input_promoted" when it was promoted, or "moved_on". What an input has
	// become (promoted, rejected, withdrawn) is final.
	UpdateInput(ctx context.Context, in *weir.Input, revision int64) error
	// ReorderInputs lets pending inputs exchange the positions they hold, so
	// that they come in this order, each one revision further. Other inputs
	// stay where they are. "input_promoted" or "moved_on", and nothing is
	// changed, when one is no longer pending.
	ReorderInputs(ctx context.Context, c weir.ConversationID, ids []weir.InputID) error

	// InsertStep adds a step under s.Fence. Conflict with code
	// "conversation_busy" while another one is running.
	InsertStep(ctx context.Context, s *weir.Step) error
	// UpdateStep stores what has changed of a running step under its
	// conversation's fence, and sets s.Interrupt when an interrupt was asked
	// for meanwhile. A step settles once: "moved_on" when it has.
	UpdateStep(ctx context.Context, fence int64, s *weir.Step) error
	// PutLesson keeps what was learnt of a model; what is known already stays.
	PutLesson(ctx context.Context, l weir.Lesson) error
	// AskInterrupt marks the running step, if any, and reports whether there was one.
	AskInterrupt(ctx context.Context, c weir.ConversationID) (bool, error)

	// InsertCalls adds calls under the fence. Conflict with code "call_exists"
	// for a known id of the step, or a second waiting one of the conversation.
	InsertCalls(ctx context.Context, fence int64, calls ...weir.Call) error
	// UpdateCall takes a call further, under the fence: from waiting to started
	// or settled, from started to settled; else "moved_on". So each starts once
	// and settles once, and one that waited starts only if it is allowed. A
	// decision that a person took meanwhile stays, and call.Decision tells of
	// it.
	UpdateCall(ctx context.Context, fence int64, call *weir.Call) error
	// DecideCall decides a waiting call of the conversation, allow or deny, and
	// returns it. NotFound with code "call_not_found" when none of this id
	// waits. Deciding again the same way is nothing, the other way a Conflict
	// with code "call_decided".
	DecideCall(ctx context.Context, c weir.ConversationID, call string, d weir.Decision) (weir.Call, error)
	// PutArtefact adds one under the fence; its text is kept byte for byte,
	// whatever the bytes. TooLarge above [weir.MaxArtefactBytes].
	PutArtefact(ctx context.Context, fence int64, a *weir.Artefact) error
	// PutToolRule sets an owner's rule for a tool; one without a decision takes it back.
	PutToolRule(ctx context.Context, rule weir.ToolRule) error

	// AppendChanges adds entries to the journal in this order and sets their
	// Seq. Who reads an entry finds all with a lower Seq that there will ever
	// be: appending, and changing clients' facts, waits for other transactions
	// that did the same to end. So it comes late in a transaction. Of each fact
	// in each scope the newest 1,000 entries are kept. NotFound for the scope
	// of a conversation that is not there or deleted.
	AppendChanges(ctx context.Context, changes ...*weir.Change) error
	// PutClientFact adds or replaces a fact that a client keeps. Unprocessable
	// with code "too_many_facts" above [weir.MaxClientFacts] in the scope, or
	// "facts_too_long" above [weir.MaxClientFactsBytes] together, and NotFound
	// as AppendChanges.
	PutClientFact(ctx context.Context, f weir.ClientFact) error
	// DeleteClientFact removes one; NotFound with code "fact_not_found" for none.
	DeleteClientFact(ctx context.Context, scope weir.ChangeScope, key string) error

	AppendFlows(ctx context.Context, flows ...*weir.Flow) error // sets their ids

	// AcquireLease takes a free or run-out lease with the next fence; ok is
	// false when somebody holds it, the same holder included. Times are the
	// database's. On SQLite all leases are free when the store is opened. A
	// lease that ran out stays good until somebody takes it; one that was
	// released does not.
	AcquireLease(ctx context.Context, c weir.ConversationID, holder string, ttl time.Duration) (l weir.Lease, ok bool, err error)
	// RenewLease extends it; "fenced" when it is no longer the holder's.
	RenewLease(ctx context.Context, l weir.Lease, ttl time.Duration) (weir.Lease, error)
	// ReleaseLease frees it; releasing what was lost is nothing.
	ReleaseLease(ctx context.Context, l weir.Lease) error

	// RememberAnswer stores an answer and forgets those older than 24 h.
	// Conflict with code "idempotency_conflict" for a key that is taken.
	RememberAnswer(ctx context.Context, owner weir.OwnerID, route, key string, a weir.IdempotentAnswer) error
	// InitSetting stores a value unless there is one, and returns the stored one.
	InitSetting(ctx context.Context, name string, value []byte) ([]byte, error)
}

// Store is a database.
type Store interface {
	Reader
	// View runs fn in one transaction that sees one state of the database. fn
	// asks its Reader, not the store.
	View(ctx context.Context, fn func(Reader) error) error
	// Update runs fn in one transaction and returns when it is durable. fn may
	// run again when the database asks for a retry, so it must not have
	// effects outside. An error of fn undoes its writes and is returned; so
	// does a panic. fn must not wait for another Update: on SQLite there is
	// one at a time. ctx counts until the commit begins.
	Update(ctx context.Context, fn func(Tx) error) error
	Close() error
}
