//go:build !unix

package main

import "time"

var begun = time.Now()

// processorTime is the time that has passed, which comes closest here.
func processorTime() time.Duration { return time.Since(begun) }
