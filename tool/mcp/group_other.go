//go:build unix && !linux

package mcp

import (
	"os/exec"
	"syscall"
)

// ownGroup makes the child the leader of a process group. When we are killed
// it learns of it by the end of its input.
func ownGroup(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }
