package mcp

import "os/exec"

// Windows has no process groups of this kind: a child's own children have to
// notice the end of their input.
func ownGroup(*exec.Cmd) {}

func terminateGroup(c *exec.Cmd) { killGroup(c) }

func killGroup(c *exec.Cmd) { _ = c.Process.Kill() }
