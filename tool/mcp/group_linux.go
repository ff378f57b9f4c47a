package mcp

import (
	"os/exec"
	"syscall"
)

// ownGroup makes the child the leader of a process group, and has the system
// kill it when we are gone, however that came.
func ownGroup(c *exec.Cmd) {
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
