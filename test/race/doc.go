// Package race says whether a test runs under the race detector, where
// everything takes several times as long: a run that is about bytes and not
// about concurrency is short there, and whole in the run without it.
package race
