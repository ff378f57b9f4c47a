package transcript

import (
	"slices"

	"weir"
)

// Project returns what a person sees of r in the timeline; false for records
// of which they see nothing: beginnings and good ends of steps, redactions,
// changes of visibility, agent and workspace, and the epoch that a log begins
// with. A later epoch is a divider and no more: that it is there. WrittenIn is
// the kind of the conversation in which r was written.
func Project(r *weir.Record, s *Shape, writtenIn weir.Kind) (Item, bool) {
	it := Item{
		ID: r.ID, Seq: r.Seq, Kind: r.Kind(), Time: r.Time, Generation: r.Generation,
		Hidden: s.Hidden(r.Seq),
	}
	_, _, it.Quotable = Quotable(r, writtenIn, s)
	switch b := r.Body.(type) {
	case *weir.UserMessage:
		it.Role, it.Text, it.Input, it.Synthetic = roleUser, b.Said(), b.Input, b.Synthetic
		it.References = references(b.References)
	case *weir.AssistantMessage:
		it.Role, it.Text, it.Parts = roleAssistant, b.VisibleText(), parts(b.Parts)
		it.Step, it.Model, it.Interrupted = b.Step, b.Model, b.Interrupted
	case *weir.ToolResult:
		it.Tool = &ItemTool{Call: b.Call, Name: b.Name, Text: b.Text, IsError: b.IsError, Artefact: b.Artefact, Size: b.Size}
	case *weir.RecallSnapshot: // that it is there; its JSON is not for the timeline
	case *weir.Update:
		it.Update = &ItemUpdate{Fact: b.Fact, Text: b.Text, At: b.At}
	case *weir.Approval:
		it.Approval = &ItemApproval{Call: b.Call, Name: b.Name, Decision: b.Decision}
	case *weir.Epoch:
		if !s.epochBefore(r.Seq) {
			return Item{}, false // nothing came before it that it would divide
		}
	case *weir.Checkpoint:
		it.Text = b.Text
	case *weir.Notice:
		it.Text = b.Text
	case *weir.Rewind:
		it.Rewind = &ItemRewind{From: b.From, Upto: b.Upto}
	case *weir.Undo:
		back, _ := s.rewound(b.Rewind)
		it.Rewind = &ItemRewind{From: back.From, Upto: back.Upto, Undo: true}
	case *weir.Retitled:
		if b.Auto {
			return Item{}, false // nobody named it
		}
		it.Title = b.Title
	case *weir.ModelSet:
		it.Model = b.Model
	case *weir.StepEnd:
		if b.Outcome == weir.StepDone {
			return Item{}, false
		}
		it.Step, it.Outcome, it.Code, it.Reason = b.Step, string(b.Outcome), b.Code, b.Reason
	default:
		return Item{}, false
	}
	return it, true
}

func references(frozen []weir.Frozen) []ItemReference {
	var refs []ItemReference
	for i := range frozen {
		f := &frozen[i]
		refs = append(refs, ItemReference{
			Type: f.Type, Conversation: f.Conversation, Message: f.Message, Title: f.Title,
			Excerpt: f.Excerpt(), Truncated: f.Truncated, TextLength: f.TextLength,
		})
	}
	return refs
}

// parts returns the parts of an assistant message in order, none where the
// item's text says it all. What a provider signed stays on the server.
func parts(of []weir.Part) []ItemPart {
	if !slices.ContainsFunc(of, func(p weir.Part) bool { return p.Type != weir.PartText }) {
		return nil
	}
	var items []ItemPart
	for _, p := range of {
		switch p.Type {
		case weir.PartText, weir.PartReasoning:
			if p.Text != "" {
				items = append(items, ItemPart{Type: p.Type, Text: p.Text})
			}
		case weir.PartToolCall:
			items = append(items, ItemPart{Type: p.Type, Call: p.Call, Name: p.Name, Input: string(p.Input)})
		}
	}
	return items
}
