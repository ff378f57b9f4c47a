// Package live carries signals between those who change conversations and
// those who watch them: rings (something durable is new: go and read) and
// deltas (text as it streams). It is never the truth: losing a signal costs
// time, not data. Publish never blocks; a slow subscriber is cut off and told
// so by its channel being closed. Signals of one publisher for one
// conversation arrive in the order of publishing.
package live

import "weir"

// Signal is what watchers of a conversation get. It is a noun of the product,
// so that those who publish need not import this room.
type Signal = weir.Signal

// Delta is more of the running step's answer.
type Delta = weir.Delta
