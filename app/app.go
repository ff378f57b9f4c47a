// Package app wires the rooms together and decides in which order they start
// and stop; nothing else. Start returns when the server answers; Stop refuses
// new requests, lets running steps settle or be recovered, and returns when
// every goroutine has ended and the store is closed.
package app
