//go:build unix

package mcp_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"weir/tool"
)

func TestAServerKilledFromOutsideIsStartedAgain(t *testing.T) {
	w := newWorld(t, child("sdk"))
	pid, err := strconv.Atoi(strings.TrimSpace(w.run(t, "peer__leave_child_"+hashOf("leave child"), `{}`).Text))
	if err != nil {
		t.Fatal(err)
	}
	server := parentOf(t, pid)
	done := make(chan tool.Result)
	go func() { done <- w.Run(t.Context(), "peer__hang", tool.Call{Input: json.RawMessage(`{}`)}) }()
	w.log.await(t, "hanging", 1)
	if err := syscall.Kill(server, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if got := <-done; !strings.Contains(got.Text, "may or may not have taken effect") || !got.IsError {
		t.Errorf("%+v", got)
	}
	w.log.await(t, "it ended (signal: killed)", 1)
	w.log.await(t, "is ready", 2)
	gone(t, pid) // it held the output open, and belongs to the group
}

func TestNoChildOutlivesItsClient(t *testing.T) {
	w := newWorld(t, child("sdk"))
	pid, err := strconv.Atoi(w.run(t, "peer__leave_child_"+hashOf("leave child"), `{}`).Text)
	if err != nil {
		t.Fatal(err)
	}
	server := parentOf(t, pid)
	w.client.Stop()
	gone(t, pid)
	gone(t, server)
	w.says(t, "peer__echo", `{}`, "The server peer is not running; try again later.", true)
}

func TestAServerDiesWithAClientThatIsKilled(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("elsewhere a server learns of it by the end of its input")
	}
	host := exec.Command(os.Args[0])
	host.Env = append(os.Environ(), peerVar+"=host")
	out, err := host.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := host.Start(); err != nil {
		t.Fatal(err)
	}
	said, err := bufio.NewReader(out).ReadString('\n')
	m := regexp.MustCompile(`I am (\d+)\.`).FindStringSubmatch(said)
	if err != nil || m == nil {
		t.Fatalf("the server said %q, %v", said, err)
	}
	if err := host.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = host.Wait() // killed
	pid, _ := strconv.Atoi(m[1])
	gone(t, pid)
}

func TestAChildThatGotAwayHidesNoDeath(t *testing.T) {
	w := newWorld(t, child("sdk"))
	pid, err := strconv.Atoi(w.run(t, "peer__lose_child_"+hashOf("lose child"), `{}`).Text)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = syscall.Kill(pid, syscall.SIGKILL) }()
	w.says(t, "peer__die", `{}`, "The connection to the server peer was lost during the call, which may or may not have taken effect.", true)
	w.log.await(t, "it ended (exit status 3)", 1)
	w.log.await(t, "is ready", 2)
}

// parentOf reads a process's parent, where the system tells.
func parentOf(t *testing.T, pid int) int {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Skip("no /proc here")
	}
	fields := strings.Fields(string(b[strings.LastIndexByte(string(b), ')'):]))
	parent, err := strconv.Atoi(fields[2])
	if err != nil {
		t.Fatal(err)
	}
	return parent
}

// gone waits until a process is no more than a name.
func gone(t *testing.T, pid int) {
	t.Helper()
	deadline := time.Now().Add(10 * time.Second)
	for time.Now().Before(deadline) {
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil || strings.Contains(string(b), ") Z ") {
			return
		}
		time.Sleep(10 * time.Millisecond) // nothing tells of the end of another's child
	}
	t.Errorf("process %d lives on", pid)
}
