package turn

import (
	"context"
	"slices"

	"weir"
)

// Move puts a queued message before another one, or with before "" behind the
// others; both wait in the same queue, because nothing passes a control. The
// messages between change places with it and go one revision further with it.
func (e *Engine) Move(ctx context.Context, a weir.Actor, c weir.ConversationID, id, before weir.InputID, revision int64) (weir.Input, error) {
	var in weir.Input
	err := e.cfg.Store.Update(ctx, func(tx Tx) error {
		if _, err := owned(ctx, tx, a, c); err != nil {
			return err
		}
		var err error
		if in, err = storedInput(ctx, tx, c, id); err != nil {
			return err
		}
		if err := changeable(&in, revision); err != nil {
			return err
		}
		if in.Delivery != weir.Queue {
			return weir.Fault(weir.Unprocessable, "not_queued", "Only queued messages have an order of their own; queue the message first.")
		}
		waiting, err := tx.PendingInputs(ctx, c)
		if err != nil {
			return err
		}
		order, err := reordered(waiting, id, before)
		if err != nil || len(order) == 0 {
			return err
		}
		if err := tx.ReorderInputs(ctx, c, order); err != nil {
			return err
		}
		in, err = storedInput(ctx, tx, c, id)
		return err
	})
	if weir.CodeOf(err) == weir.CodeMoved {
		if now, err2 := storedInput(ctx, e.cfg.Store, c, id); err2 == nil && changeable(&now, revision) != nil {
			err = changeable(&now, revision)
		}
	}
	if err != nil {
		return weir.Input{}, err
	}
	e.publish(weir.Signal{Conversation: c, Inputs: true})
	return in, nil
}

// reordered returns the queued messages that change places, in their new
// order; none when everything stands where it should.
func reordered(waiting []weir.Input, id, before weir.InputID) ([]weir.InputID, error) {
	queue := queueOf(waiting, id)
	from, to := slices.Index(queue, id), len(queue)-1
	if before != "" {
		at := slices.Index(queue, before)
		switch {
		case at < 0:
			return nil, weir.Fault(weir.Unprocessable, "move_invalid",
				"The message can only go before another queued one that nothing else separates it from.")
		case at > from:
			at--
		}
		to = at
	}
	if before == id || from == to {
		return nil, nil
	}
	queue = slices.Insert(slices.Delete(queue, from, from+1), to, id)
	return queue[min(from, to) : max(from, to)+1], nil
}

// queueOf returns the queued messages that no control separates from id.
func queueOf(waiting []weir.Input, id weir.InputID) []weir.InputID {
	var queue []weir.InputID
	for i := range waiting {
		in := &waiting[i]
		switch {
		case isControl(in.Kind):
			if slices.Contains(queue, id) {
				return queue
			}
			queue = nil
		case in.Kind == weir.InputUser && in.Delivery == weir.Queue:
			queue = append(queue, in.ID)
		}
	}
	return queue
}
