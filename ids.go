package weir

import (
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"time"
	"unicode/utf8"
)

// Ids are opaque: any valid UTF-8 of 1 to [MaxIDBytes] bytes without NUL.
// Imports bring their own; those that Weir mints are a prefix and a UUIDv7.
type (
	// OwnerID identifies a person whose conversations these are.
	OwnerID string
	// ConversationID identifies a conversation for good.
	ConversationID string
	// GenerationID identifies the span of a conversation between two compactions.
	GenerationID string
	// MessageID identifies a record within its conversation.
	MessageID string
	// InputID identifies an input within its conversation.
	InputID string
	// StepID identifies a step.
	StepID string
	// ArtefactID identifies the full text of a tool result within its conversation.
	ArtefactID string
)

// Seq is the position of a record in its conversation's transcript: dense,
// from 1, handed out by the store alone.
type Seq int64

// MaxIDBytes is the longest id that is accepted from outside.
const MaxIDBytes = 512

// ValidID reports whether s may be an id.
func ValidID(s string) bool {
	if len(s) == 0 || len(s) > MaxIDBytes || !utf8.ValidString(s) {
		return false
	}
	for i := range len(s) {
		if s[i] == 0 {
			return false
		}
	}
	return true
}

// AddressableID reports whether s may be the id of what has an address of its
// own. No address can name ".", ".." or "/": whoever reads it resolves them away.
func AddressableID(s string) bool {
	return ValidID(s) && s != "." && s != ".." && s != "/"
}

// NewConversationID mints an id at the given time.
func NewConversationID(now time.Time) ConversationID { return ConversationID("cnv_" + uuid7(now)) }

// NewGenerationID mints an id at the given time.
func NewGenerationID(now time.Time) GenerationID { return GenerationID("gen_" + uuid7(now)) }

// NewMessageID mints an id at the given time.
func NewMessageID(now time.Time) MessageID { return MessageID("msg_" + uuid7(now)) }

// NewInputID mints an id at the given time.
func NewInputID(now time.Time) InputID { return InputID("inp_" + uuid7(now)) }

// NewStepID mints an id at the given time.
func NewStepID(now time.Time) StepID { return StepID("stp_" + uuid7(now)) }

// NewArtefactID mints an id at the given time.
func NewArtefactID(now time.Time) ArtefactID { return ArtefactID("art_" + uuid7(now)) }

// uuid7 spells a version 7 UUID (RFC 9562) as 32 lower-case hex digits.
func uuid7(now time.Time) string {
	var b [16]byte
	rand.Read(b[6:]) // never fails: crypto/rand aborts the program instead
	var ms [8]byte
	binary.BigEndian.PutUint64(ms[:], uint64(now.UnixMilli()))
	copy(b[:6], ms[2:])
	b[6] = b[6]&0x0f | 0x70
	b[8] = b[8]&0x3f | 0x80
	return hex.EncodeToString(b[:])
}
