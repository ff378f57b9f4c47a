// Package modelview makes the exact bytes that a provider gets, and proves
// them. It promises that a byte which was once sent is never rendered again:
//
//   - Each record is lowered once for a dialect, endpoint mode and model, and
//     its bytes are frozen in the store as a [weir.View]; the first write wins,
//     so a restart, a second node or an upgrade of this program that renders
//     differently changes nothing that is stored.
//   - A request is head + messages + tail. The head is frozen with the epoch's
//     record, the tail is kept in the step's record, and between them stand
//     sections and assistant messages that alternate. How a section is
//     arranged and joined is a fixed rule of the lowering's version tag; a
//     changed rule needs a new tag, and a conversation keeps the tag it has.
//   - Every request says, in its [weir.Ledger], how much of the request before
//     it repeats byte for byte, and, where it does not extend that one,
//     exactly one reason why.
//   - The log, the frozen views and the step's record alone rebuild a request;
//     [Lowerer.Rebuild] does, and compares the digest.
//
// Order: the store's seqs and the surface that transcript folds from them.
// Loss: nothing is kept here but a cache; a [Window] can be dropped at any
// time. Concurrency: a [Lowerer] may be used by many, a [Window] by one holder
// at a time.
package modelview
