package api

import (
	"context"
	"net/http"
	"net/url"
	"path/filepath"

	"weir"
	"weir/lifecycle"
)

type conversationPath struct {
	ID weir.ConversationID `path:"id" doc:"Id of the conversation, percent-encoded."`
}

type one[T any] struct{ Body T }

// visibilityIn is a wish: what is left out stays, and "" is no category.
type visibilityIn struct {
	Level    *weir.Level           `json:"level,omitempty" enum:"open,isolated"`
	Category *string               `json:"category,omitempty" doc:"A label of one line, at most 120 characters; empty for none. What is left out stays as it is."`
	Island   []weir.ConversationID `json:"island,omitempty" doc:"Taken so that what was read can be sent back, and not looked at."`
}

func (v *visibilityIn) wish() lifecycle.Wish {
	if v == nil {
		return lifecycle.Wish{}
	}
	return lifecycle.Wish{Level: v.Level, Category: v.Category}
}

// owned returns a conversation that the actor may see; every other is not found.
func (s *server) owned(ctx context.Context, a weir.Actor, id weir.ConversationID) (weir.Conversation, error) {
	if !weir.ValidID(string(id)) {
		return weir.Conversation{}, noConversation()
	}
	c, err := s.cfg.Store.Conversation(ctx, id)
	switch {
	case err != nil && weir.KindOf(err) != weir.NotFound:
		return weir.Conversation{}, err
	case err != nil || c.Deleted || c.Owner != a.Owner:
		return weir.Conversation{}, noConversation()
	}
	return c, nil
}

func (s *server) conversationRoutes() {
	const base, each = "/v1/conversations", "/v1/conversations/{id}"
	add(s, about("create-conversation", http.MethodPost, base, "Make a conversation", http.StatusCreated), s.create)
	add(s, about("list-conversations", http.MethodGet, base, "List conversations, newest activity first", http.StatusOK), s.list)
	add(s, about("get-conversation", http.MethodGet, each, "One conversation", http.StatusOK), s.get)
	add(s, about("change-conversation", http.MethodPatch, each,
		"Change what is set on a conversation; what opens it asks first (409 with confirmation, digest, reasons, descendants)", http.StatusOK), s.change)
	add(s, about("delete-conversation", http.MethodDelete, each,
		"Delete a conversation for good; with living branches it asks what to do with them (409 with branches)", http.StatusOK), s.delete)
	add(s, about("branch", http.MethodPost, each+"/branch", "Make a child that begins with everything up to a message", http.StatusCreated), s.branch)
	add(s, about("rewind", http.MethodPost, each+"/rewind", "Hide everything after a message", http.StatusOK), s.rewind)
	add(s, about("undo-rewind", http.MethodPost, each+"/rewind/undo", "Take the newest rewind back", http.StatusOK), s.undo)
	add(s, about("retry", http.MethodPost, each+"/retry", "Run a step from the end of what is there", http.StatusAccepted), s.retry)
	add(s, about("interrupt", http.MethodPost, each+"/interrupt", "Ask the running step to stop; what came is kept, and pending inputs wait for the next word, or with then: steer the queued ones alone", http.StatusAccepted), s.interrupt)
}

type createIn struct {
	Body struct {
		ID         weir.ConversationID `json:"id,omitempty" doc:"An id of your own, 1 to 512 bytes."`
		Title      string              `json:"title,omitempty"`
		Kind       weir.Kind           `json:"kind,omitempty" enum:"chat,main"`
		Visibility *visibilityIn       `json:"visibility,omitempty"`
		Workspace  string              `json:"workspace,omitempty" doc:"The absolute path of a folder."`
		Model      string              `json:"model,omitempty"`
		Agent      string              `json:"agent,omitempty"`
	}
}

type created struct {
	Location string `header:"Location"`
	Body     conversation
}

func createdAt(c *weir.Conversation) *created {
	return &created{Location: pathOf(c.ID), Body: conversationOf(c)}
}

func pathOf(id weir.ConversationID) string { return "/v1/conversations/" + url.PathEscape(string(id)) }

func (s *server) create(ctx context.Context, a weir.Actor, in *createIn) (*created, error) {
	b := in.Body
	if err := validWorkspace(b.Workspace); err != nil {
		return nil, err
	}
	c, err := s.cfg.Lifecycle.Create(ctx, a, lifecycle.NewConversation{
		ID: b.ID, Title: b.Title, Kind: b.Kind, Visibility: b.Visibility.wish(),
		Workspace: b.Workspace, Model: b.Model, Agent: b.Agent,
	})
	if err != nil {
		return nil, err
	}
	return createdAt(&c), nil
}

// validWorkspace refuses what would be found from wherever the server stands.
// An imported conversation keeps the path of the system that it came from.
func validWorkspace(folder string) error {
	if folder != "" && !filepath.IsAbs(folder) {
		return weir.Fault(weir.Invalid, "workspace_invalid", "A workspace is the absolute path of a folder, or empty for none.")
	}
	return nil
}

type listIn struct {
	Query    string    `query:"query" doc:"Words that all have to be in title, id or workspace."`
	Kind     weir.Kind `query:"kind" enum:"chat,main,branch,task"`
	Archived string    `query:"archived" enum:"true,false" doc:"Only the archived ones, or only the others; both when left out."`
	Limit    int       `query:"limit" minimum:"1" maximum:"500" default:"50"`
	Cursor   string    `query:"cursor"`
}

func (s *server) list(ctx context.Context, a weir.Actor, in *listIn) (*one[page[conversation]], error) {
	q := weir.ConversationQuery{Owner: a.Owner, Words: in.Query, Kind: in.Kind, Limit: in.Limit, Cursor: in.Cursor}
	if in.Archived != "" {
		archived := in.Archived == "true"
		q.Archived = &archived
	}
	got, err := s.cfg.Store.Conversations(ctx, q)
	if err != nil {
		return nil, err
	}
	out := &one[page[conversation]]{page[conversation]{Items: make([]conversation, 0, len(got.Items)), Next: got.Next}}
	for i := range got.Items {
		out.Body.Items = append(out.Body.Items, conversationOf(&got.Items[i]))
	}
	return out, nil
}

func (s *server) get(ctx context.Context, a weir.Actor, in *conversationPath) (*one[conversation], error) {
	c, err := s.owned(ctx, a, in.ID)
	if err != nil {
		return nil, err
	}
	return &one[conversation]{conversationOf(&c)}, nil
}

type changeIn struct {
	ID   weir.ConversationID `path:"id"`
	Body changeBody
}

type changeBody struct {
	Title          *string       `json:"title,omitempty"`
	Visibility     *visibilityIn `json:"visibility,omitempty"`
	Workspace      *string       `json:"workspace,omitempty" doc:"The absolute path of a folder; empty for none."`
	Model          *string       `json:"model,omitempty" doc:"Empty for the default."`
	Agent          *string       `json:"agent,omitempty"`
	Archived       *bool         `json:"archived,omitempty"`
	KeepCategories bool          `json:"keep_categories,omitempty" doc:"Leave the descendants' category as it is."`
	Confirmed      bool          `json:"confirmed,omitempty"`
	Seen           string        `json:"seen,omitempty" maxLength:"512"`
}

func (s *server) change(ctx context.Context, a weir.Actor, in *changeIn) (*one[conversation], error) {
	b := in.Body
	if b.Workspace != nil {
		if err := validWorkspace(*b.Workspace); err != nil {
			return nil, err
		}
	}
	c, err := s.cfg.Lifecycle.Change(ctx, a, in.ID, lifecycle.Change{
		Title: b.Title, Visibility: b.Visibility.wish(), Workspace: b.Workspace, Model: b.Model, Agent: b.Agent,
		Archived: b.Archived, KeepCategories: b.KeepCategories, Confirmed: b.Confirmed, Seen: b.Seen,
	})
	if err != nil {
		return nil, err
	}
	s.noticed(ctx, c.ID, factsOfRow(&in.Body)...)
	return &one[conversation]{conversationOf(&c)}, nil
}

// factsOfRow are the facts that a change of a conversation's row may change.
func factsOfRow(b *changeBody) []string {
	var keys []string
	if b.Model != nil || b.Agent != nil {
		keys = append(keys, "core/agent")
	}
	if b.Visibility != nil {
		keys = append(keys, "core/visibility")
	}
	if b.Workspace != nil {
		keys = append(keys, "core/workspace", "core/instructions")
	}
	return keys
}

type deleteIn struct {
	ID       weir.ConversationID `path:"id"`
	Branches string              `query:"branches" enum:"keep,delete"`
}

type deletion struct {
	Deleted []weir.ConversationID `json:"deleted"`
	Copies  []copyOf              `json:"copies" doc:"Where quotes of it went; they stay there."`
	More    bool                  `json:"more,omitempty"`
}

type copyOf struct {
	Source       weir.ConversationID `json:"source"`
	Message      weir.MessageID      `json:"message,omitempty" doc:"The quoted message."`
	Conversation weir.ConversationID `json:"conversation" doc:"Where the quote is."`
	Title        string              `json:"title"`
	Input        weir.InputID        `json:"input,omitempty"`
	In           weir.MessageID      `json:"in,omitempty" doc:"The message that it was sent with."`
	Time         instant             `json:"time"`
	Link         string              `json:"link" doc:"To open it in the page."`
}

func (s *server) delete(ctx context.Context, a weir.Actor, in *deleteIn) (*one[deletion], error) {
	d, err := s.cfg.Lifecycle.Delete(ctx, a, in.ID, in.Branches)
	if err != nil {
		return nil, err
	}
	out := deletion{Deleted: d.Deleted, Copies: []copyOf{}, More: d.More}
	for _, f := range d.Copies {
		c := copyOf{
			Source: f.Source, Message: f.Message, Conversation: f.Target, Title: f.Title, Input: f.Input, In: f.In,
			Time: instant{f.Time}, Link: "/#/c/" + url.PathEscape(string(f.Target)),
		}
		if c.In != "" {
			c.Link += "/m/" + url.PathEscape(string(c.In))
		}
		out.Copies = append(out.Copies, c)
	}
	return &one[deletion]{out}, nil
}

// titles looks titles up, each once; "" for what the actor may not see.
func (s *server) titles(ctx context.Context, a weir.Actor) func(weir.ConversationID) string {
	known := map[weir.ConversationID]string{}
	return func(id weir.ConversationID) string {
		title, ok := known[id]
		if !ok {
			if c, err := s.owned(ctx, a, id); err == nil {
				title = c.Title
			}
			known[id] = title
		}
		return title
	}
}

type branchIn struct {
	ID   weir.ConversationID `path:"id"`
	Body struct {
		At         weir.MessageID `json:"at" doc:"A message of a person or of the model; the child ends with it and what belongs to it."`
		Visibility *visibilityIn  `json:"visibility,omitempty"`
		Title      *string        `json:"title,omitempty"`
		Confirmed  bool           `json:"confirmed,omitempty"`
		Seen       string         `json:"seen,omitempty" maxLength:"512"`
	}
}

func (s *server) branch(ctx context.Context, a weir.Actor, in *branchIn) (*created, error) {
	b := in.Body
	c, err := s.cfg.Lifecycle.Branch(ctx, a, in.ID, lifecycle.BranchRequest{
		At: b.At, Visibility: b.Visibility.wish(), Title: b.Title, Confirmed: b.Confirmed, Seen: b.Seen,
	})
	if err != nil {
		return nil, err
	}
	return createdAt(&c), nil
}

type rewindIn struct {
	ID   weir.ConversationID `path:"id"`
	Body struct {
		To    weir.MessageID `json:"to" doc:"The message that is then the last."`
		IfSeq weir.Seq       `json:"if_seq" doc:"head_seq as you saw it."`
	}
}

type mutation struct {
	Seq  weir.Seq `json:"seq" doc:"Of the record that this made."`
	From weir.Seq `json:"from,omitempty" doc:"The first seq that is hidden."`
	Upto weir.Seq `json:"upto,omitempty" doc:"The last."`
}

func (s *server) rewind(ctx context.Context, a weir.Actor, in *rewindIn) (*one[mutation], error) {
	r, err := s.cfg.Lifecycle.Rewind(ctx, a, in.ID, in.Body.To, in.Body.IfSeq)
	if err != nil {
		return nil, err
	}
	m := mutation{Seq: r.Seq}
	if b, ok := r.Body.(*weir.Rewind); ok {
		m.From, m.Upto = b.From, b.Upto
	}
	return &one[mutation]{m}, nil
}

type ifSeqIn struct {
	ID   weir.ConversationID `path:"id"`
	Body *ifSeqBody
}

type ifSeqBody struct {
	IfSeq *weir.Seq `json:"if_seq,omitempty" doc:"head_seq as you saw it."`
}

func (in *ifSeqIn) ifSeq() *weir.Seq {
	if in.Body == nil {
		return nil
	}
	return in.Body.IfSeq
}

func (s *server) undo(ctx context.Context, a weir.Actor, in *ifSeqIn) (*one[mutation], error) {
	r, err := s.cfg.Lifecycle.UndoRewind(ctx, a, in.ID, in.ifSeq())
	if err != nil {
		return nil, err
	}
	return &one[mutation]{mutation{Seq: r.Seq}}, nil
}

type accepted struct {
	Accepted bool `json:"accepted"`
}

func (s *server) retry(ctx context.Context, a weir.Actor, in *ifSeqIn) (*one[accepted], error) {
	if _, err := s.owned(ctx, a, in.ID); err != nil {
		return nil, err
	}
	if err := s.cfg.Turns.Retry(ctx, a, in.ID, in.ifSeq()); err != nil {
		return nil, err
	}
	return &one[accepted]{accepted{true}}, nil
}

type interruptIn struct {
	ID   weir.ConversationID `path:"id"`
	Body *struct {
		Then weir.Delivery `json:"then,omitempty" enum:"steer" doc:"steer: go on at once with the pending inputs that steer."`
	}
}

func (s *server) interrupt(ctx context.Context, a weir.Actor, in *interruptIn) (*one[accepted], error) {
	if _, err := s.owned(ctx, a, in.ID); err != nil {
		return nil, err
	}
	var then weir.Delivery
	if in.Body != nil {
		then = in.Body.Then
	}
	if err := s.cfg.Turns.Interrupt(ctx, a, in.ID, then); err != nil {
		return nil, err
	}
	return &one[accepted]{accepted{true}}, nil
}
