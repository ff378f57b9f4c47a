// Package oracles holds what others say of our wires: the vendors' own SDKs and
// the types that they publish. It is a module of its own, so that nothing of
// them reaches the product, and it has tests alone.
//
// Bodies that modelview made are decoded into the SDKs' types and sent by the
// SDKs, which must send the same JSON values, and are validated against JSON
// Schemas generated from the vendors' TypeScript types. Streams in the vendors'
// event shapes are read by our clients in every chunking, and by the SDKs. The
// SDKs talk to the strict peer, which must be to them as the vendors are.
//
// What no oracle tells: whether a vendor accepts a history. That is the strict
// peer's.
package oracles
