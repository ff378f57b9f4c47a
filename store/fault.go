package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"net"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/pgconn"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"weir"
)

// fault gives an error of a database the kind and words that may leave the
// store. The caller's own cancellation stays what it is.
func fault(err error) error {
	var known *weir.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &known), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	}
	kind, code, public := class(err)
	return &weir.Error{Kind: kind, Code: code, Op: "store", Public: public, Err: err}
}

func class(err error) (weir.ErrorKind, string, string) {
	var lite *sqlite.Error
	if errors.As(err, &lite) {
		if lite.Code() == sqlite3.SQLITE_IOERR_SHMSIZE { // nothing else keeps it from growing
			return diskFull()
		}
		switch lite.Code() & 0xff {
		case sqlite3.SQLITE_FULL:
			return diskFull()
		case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY:
			return unavailable()
		case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
			return weir.Internal, "data_damaged", "The database file is damaged; restore it from a backup."
		case sqlite3.SQLITE_TOOBIG:
			return weir.TooLarge, "too_large", "This is more than the database takes in one piece."
		}
		return weir.Internal, "internal", ""
	}
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		switch {
		case pg.Code == "22021", pg.Code == "22P05":
			return weir.Invalid, "text_invalid", "The text holds characters that cannot be stored (a NUL, or bytes that are not UTF-8)."
		case pg.Code == "53100":
			return diskFull()
		case pg.Code == "54000":
			return weir.TooLarge, "too_large", "This is more than the database takes in one piece."
		case retryable(err), strings.HasPrefix(pg.Code, "08"), strings.HasPrefix(pg.Code, "53"), strings.HasPrefix(pg.Code, "57"), pg.Code == "55P03":
			return unavailable()
		}
		return weir.Internal, "internal", ""
	}
	var refused *pgconn.ConnectError
	var network net.Error
	if errors.As(err, &refused) || errors.As(err, &network) ||
		errors.Is(err, driver.ErrBadConn) || errors.Is(err, sql.ErrConnDone) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) ||
		strings.Contains(err.Error(), "conn closed") { // pgx keeps that error to itself
		return unavailable()
	}
	return weir.Internal, "internal", ""
}

func diskFull() (weir.ErrorKind, string, string) {
	return weir.Unavailable, "disk_full", "The disk that holds the data is full; nothing was saved. Make room and try again."
}

func unavailable() (weir.ErrorKind, string, string) {
	return weir.Unavailable, "store_unavailable", "The database cannot be reached at the moment; try again."
}

func errClosed() error {
	return weir.Fault(weir.Unavailable, "store_unavailable", "The server is shutting down; try again.")
}

// retryable reports whether PostgreSQL asks for the transaction to be run again.
func retryable(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && (pg.Code == "40001" || pg.Code == "40P01")
}

func noConversation() error {
	return weir.Fault(weir.NotFound, weir.CodeConversationNotFound, "There is no such conversation.")
}

func fencedOff() error {
	return weir.Fault(weir.Conflict, weir.CodeFenced, "Another process has taken over this conversation; nothing was changed.")
}

func movedOn(what string) error {
	return weir.Fault(weir.Conflict, weir.CodeMoved, "%s has changed meanwhile; look again and repeat.", what)
}

// valid refuses text that one of the databases could not keep.
func valid(texts ...string) error {
	for _, s := range texts {
		if strings.IndexByte(s, 0) >= 0 || !utf8.ValidString(s) {
			return weir.Fault(weir.Invalid, "text_invalid", "The text holds characters that cannot be stored (a NUL, or bytes that are not UTF-8).")
		}
	}
	return nil
}
