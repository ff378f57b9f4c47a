// Package storm kills the server. Its test runs a child process (itself, once
// more) with a store, the engine of turns and tools that note when they run,
// sends it messages, kills it with SIGKILL at random instants, starts it again,
// and then looks at what is left: every acknowledged message is there once, in
// order; every request that reached the provider was durable before, and
// rebuilds; no tool ran twice, and each call has one result that says truly
// whether it ran; nothing is unsettled. On the way it measures how soon what a
// dead process left is settled by the next.
//
// WEIR_STORM=full kills five hundred times, a number kills that often; else it
// is twenty-five. WEIR_SEED repeats the choices of an earlier run, as far as two
// processes can be repeated.
package storm
