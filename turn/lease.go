package turn

import (
	"context"
	"time"

	"weir"
)

// holdLease begins to renew a lease that was acquired after the given moment.
func (d *drain) holdLease(l weir.Lease, after time.Time) {
	d.lease = l
	d.kept = make(chan struct{})
	go func() {
		defer close(d.kept)
		d.keepLease(l, after)
	}()
}

// letLeaseGo ends the renewal and waits for it.
func (d *drain) letLeaseGo() {
	d.cancel(nil)
	if d.kept != nil {
		<-d.kept
	}
	d.lease = weir.Lease{}
}

// keepLease renews l until the drain's context ends. When the lease is another
// holder's, or could be because renewing kept failing until it ran out, it
// cancels the drain.
func (d *drain) keepLease(l weir.Lease, since time.Time) {
	tick := time.NewTicker(d.e.cfg.Lease / 3)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-d.ctx.Done():
			return
		}
		begun := time.Now()
		next, err := d.renew(l, since.Add(d.e.cfg.Lease))
		switch {
		case err == nil:
			l, since = next, begun
		case d.ctx.Err() != nil:
			return
		case weir.CodeOf(err) == weir.CodeFenced, !time.Now().Add(d.e.cfg.Lease / 3).Before(since.Add(d.e.cfg.Lease)):
			d.e.cfg.Log.Warn("a lease is lost", "conversation", d.id, "err", err)
			d.cancel(errLostLease)
			return
		default:
			d.e.cfg.Log.Warn("renew a lease", "conversation", d.id, "err", err)
		}
	}
}

func (d *drain) renew(l weir.Lease, until time.Time) (next weir.Lease, err error) {
	ctx, cancel := context.WithDeadline(d.ctx, until)
	defer cancel()
	err = d.e.cfg.Store.Update(ctx, func(tx Tx) error {
		next, err = tx.RenewLease(ctx, l, d.e.cfg.Lease)
		return err
	})
	return next, err
}
