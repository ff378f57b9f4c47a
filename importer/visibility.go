package importer

import (
	"context"

	"weir"
)

// differs says why a conversation that is there is not one that was asked for.
// The wall that is asked for stands around a side chain where it stands around
// the conversation that the side chain is of.
func (s *session) differs(row *weir.Conversation) *weir.Error {
	asked, own := s.run.options.Visibility, row.Visibility
	level := asked.Level != "" && asked.Level != own.Level && !(s.parent != nil && asked.Level == weir.Isolated)
	if !level && (asked.Category == "" || asked.Category == own.Category) {
		return nil
	}
	return weir.Fault(weir.Conflict, "visibility_differs",
		"The conversation is here already and is %s, which is not what this import asks for (%s); nothing was added to it. "+
			"Change its visibility first, or import without a level and a category.", inWords(own), inWords(asked))
}

func inWords(v weir.Visibility) string {
	words := string(v.Level)
	switch {
	case v.Category == "" && words == "":
		return "open"
	case v.Category == "":
		return words
	case words != "":
		words += ", "
	}
	return words + "category “" + v.Category + "”"
}

// stays makes sure that the conversation is what was asked for when it is
// written to: it may have been changed since it was read.
func (s *session) stays(ctx context.Context, tx Tx) error {
	if s.run.options.Visibility == (weir.Visibility{}) {
		return nil
	}
	for ; s != nil; s = s.parent {
		row, err := tx.Conversation(ctx, s.row.ID)
		if err != nil {
			return err
		}
		if differs := s.differs(&row); differs != nil {
			return differs
		}
	}
	return nil
}
