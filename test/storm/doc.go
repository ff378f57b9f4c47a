// Package storm kills the server. Its test runs a child process (itself, once
// more) with a store and the engine of turns, sends it messages, kills it with
// SIGKILL at random instants, starts it again, and then looks at what is left:
// every acknowledged message is there once, in order; every request that
// reached the provider was durable before, and rebuilds; nothing is unsettled.
//
// WEIR_STORM=full kills two hundred times, a number kills that often; else it
// is ten. WEIR_SEED repeats the choices of an earlier run, as far as two
// processes can be repeated.
package storm
