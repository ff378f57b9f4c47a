package store

import (
	"context"
	"database/sql"
	"sync"
	"sync/atomic"
	"time"
)

// group is SQLite's one writer. Updates that wait at the same time share one
// transaction and one sync: they run one after another, each undone by itself
// when it fails, then all are committed at once and answered.
//
// The writer goroutine owns the connection and lends it to one Update at a
// time; fn runs on its caller's goroutine, so a panic or runtime.Goexit in it
// ends only that Update.
type group struct {
	conn  *sqliteConn
	queue chan *update
	stop  chan struct{}
	ended chan struct{}
	once  sync.Once
	alone bool // commit each Update by itself
}

// How much one commit may hold back.
const (
	maxGroup     = 256
	maxGroupTime = 50 * time.Millisecond
)

// update is one call of [Store.Update] on its way.
type update struct {
	started atomic.Bool // set by whoever decides first: the writer, or a caller who gives up
	turn    chan *lent  // the writer lends the connection
	ran     chan error  // the caller gives it back, with fn's error
	done    chan error  // the writer answers
}

func startGroup(conn *sqliteConn, alone bool) *group {
	g := &group{conn: conn, alone: alone, queue: make(chan *update), stop: make(chan struct{}), ended: make(chan struct{})}
	go g.run()
	return g
}

// close ends the writer after the commit it is at. What still waits is refused.
func (g *group) close() {
	g.once.Do(func() { close(g.stop) })
	<-g.ended
}

func (g *group) update(ctx context.Context, fn func(Tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	u := &update{turn: make(chan *lent, 1), ran: make(chan error, 1), done: make(chan error, 1)}
	select {
	case g.queue <- u:
	case <-ctx.Done():
		return ctx.Err()
	case <-g.stop:
		return errClosed()
	}
	var l *lent
	select {
	case l = <-u.turn:
	case err := <-u.done:
		return err
	case <-ctx.Done():
		if u.started.CompareAndSwap(false, true) {
			return ctx.Err()
		}
		select {
		case l = <-u.turn:
		case err := <-u.done:
			return err
		}
	}
	if err := u.call(fn, l); err != nil {
		// Undone already, or about to be: nobody else depends on when.
		return err
	}
	return <-u.done
}

// call runs fn and gives the connection back whatever happens.
func (u *update) call(fn func(Tx) error, l *lent) (err error) {
	returned := false
	defer func() {
		l.over = true
		if !returned {
			err = errOver() // fn panicked or left by runtime.Goexit
		}
		u.ran <- err
	}()
	err = fn(newTx(l, l.c.d))
	if err == nil {
		err = l.broken
	}
	returned = true
	return err
}

func (g *group) run() {
	defer close(g.ended)
	for {
		select {
		case u := <-g.queue:
			g.commit(u)
		case <-g.stop:
			return
		}
	}
}

// commit runs u and what waits behind it in one transaction.
func (g *group) commit(u *update) {
	begun := time.Now()
	var good []*update
	open := false
	for n := 0; u != nil; n++ {
		if u.started.CompareAndSwap(false, true) {
			if !open {
				if err := g.do(`BEGIN IMMEDIATE`); err != nil {
					u.done <- err
					return // good is empty when nothing is open
				}
			}
			var sound bool
			if good, sound = g.lend(u, good); !sound {
				return
			}
			open = len(good) > 0
		}
		u = nil
		if n < maxGroup && !g.alone && time.Since(begun) < maxGroupTime {
			select {
			case u = <-g.queue:
			default:
			}
		}
	}
	if !open {
		return
	}
	err := g.do(`COMMIT`)
	g.conn.d.meter.read(g.conn)
	if err != nil {
		_ = g.do(`ROLLBACK`)
	}
	answer(good, err)
}

// lend lets u run within the open transaction and returns the good ones with
// u among them if it was. A first Update needs no savepoint: there is nobody
// else's work to keep. When the transaction itself was lost, all are answered
// and sound is false.
func (g *group) lend(u *update, good []*update) (_ []*update, sound bool) {
	first := len(good) == 0
	if !first {
		if err := g.do(`SAVEPOINT one`); err != nil {
			u.done <- err
			return nil, g.lost(good, err)
		}
	}
	l := &lent{c: g.conn}
	u.turn <- l
	err := <-u.ran
	switch {
	case l.broken != nil:
		_ = g.do(`ROLLBACK`)
		answer(good, l.broken)
		return nil, false
	case err != nil && first:
		_ = g.do(`ROLLBACK`)
		return good, true
	case err != nil:
		if err := g.do(`ROLLBACK TO one`); err != nil {
			return nil, g.lost(good, err)
		}
		err = g.do(`RELEASE one`)
	case first:
		return append(good, u), true
	default:
		if err = g.do(`RELEASE one`); err == nil {
			good = append(good, u)
		} else {
			u.done <- err
		}
	}
	if err != nil {
		return nil, g.lost(good, err)
	}
	return good, true
}

func (g *group) lost(good []*update, err error) bool {
	_ = g.do(`ROLLBACK`)
	answer(good, err)
	return false
}

func answer(all []*update, err error) {
	for _, u := range all {
		u.done <- err
	}
}

func (g *group) do(text string) error {
	_, err := g.conn.exec(context.Background(), text)
	return err
}

// lent is the writer's connection while an Update has it. Cancelling a write
// in the middle would undo the whole transaction, neighbours included, so a
// caller's context is looked at between statements only.
type lent struct {
	c      *sqliteConn
	over   bool
	broken error // SQLite gave up the transaction
}

func (l *lent) ready(ctx context.Context) error {
	switch {
	case l.over:
		return errOver()
	case l.broken != nil:
		return l.broken
	}
	return ctx.Err()
}

func (l *lent) note(err error) error {
	if err != nil && breaksTransaction(err) {
		l.broken = err
	}
	return err
}

func (l *lent) query(ctx context.Context, text string, args ...any) (*sql.Rows, error) {
	if err := l.ready(ctx); err != nil {
		return nil, err
	}
	rows, err := l.c.query(context.WithoutCancel(ctx), text, args...)
	return rows, l.note(err)
}

func (l *lent) exec(ctx context.Context, text string, args ...any) (int64, error) {
	if err := l.ready(ctx); err != nil {
		return 0, err
	}
	n, err := l.c.exec(context.WithoutCancel(ctx), text, args...)
	return n, l.note(err)
}
