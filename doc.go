// Package weir holds the nouns of the product: conversations, records,
// references, inputs, steps and what connects them. It has types, their JSON
// spelling and small pure methods; it does no I/O and imports only the
// standard library.
//
// Order comes from [Seq], never from ids or clocks: ids identify, times
// describe. The words are those of CONTEXT.md.
package weir
