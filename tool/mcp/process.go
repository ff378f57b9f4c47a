package mcp

import (
	"bufio"
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"time"
)

const (
	grace        = 2 * time.Second // between asking a process to end and the next, harder way
	writeTimeout = 10 * time.Second
	maxLogLine   = 2 << 10
	maxLogBytes  = 64 << 10 // of one run's standard error
)

// passed are the variables of ours that a child gets; the rest of our
// environment holds keys that are not its business.
var passed = []string{"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "TZ", "TMPDIR", "TERM",
	"SYSTEMROOT", "APPDATA", "LOCALAPPDATA", "USERPROFILE", "TEMP", "TMP", "PATHEXT", "COMSPEC"}

// process is a child that speaks over its standard input and output. It leads
// a process group, which ends with it.
type process struct {
	cmd    *exec.Cmd
	in     *os.File // ours to write
	out    *os.File // ours to read
	errs   *os.File
	exited chan struct{} // closed when the child has ended
	err    error         // of the child's end; read after exited
	logged chan struct{} // closed when the reader of errs has ended
}

func startProcess(c Config, log *slog.Logger, s scrubber) (*process, error) {
	var ours, theirs []*os.File
	for i := range 3 {
		r, w, err := os.Pipe()
		if err != nil {
			closeAll(append(ours, theirs...)...)
			return nil, err
		}
		if i == 0 {
			r, w = w, r
		}
		ours, theirs = append(ours, r), append(theirs, w)
	}
	p := &process{in: ours[0], out: ours[1], errs: ours[2], exited: make(chan struct{}), logged: make(chan struct{})}
	p.cmd = exec.Command(c.Command[0], c.Command[1:]...)
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = theirs[0], theirs[1], theirs[2]
	p.cmd.Env = environment(c.Env)
	ownGroup(p.cmd)
	started := make(chan error)
	go p.attend(started)
	err := <-started
	closeAll(theirs...)
	if err != nil {
		closeAll(ours...)
		return nil, err
	}
	go p.follow(log, s)
	return p, nil
}

// attend starts the child and waits for its end, on one thread: where the
// system ends a child with its parent, the parent is the thread.
func (p *process) attend(started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := p.cmd.Start()
	started <- err
	if err != nil {
		return
	}
	p.err = p.cmd.Wait()
	killGroup(p.cmd) // what it started ends with it, and lets go of its output
	// What left the group may hold the output open, though nobody answers there.
	end := time.Now().Add(grace)
	_, _ = p.out.SetReadDeadline(end), p.errs.SetReadDeadline(end)
	close(p.exited)
}

// follow takes the child's standard error to the log, as far as it is of use.
func (p *process) follow(log *slog.Logger, s scrubber) {
	defer close(p.logged)
	r := bufio.NewReaderSize(p.errs, maxLogLine)
	left := maxLogBytes
	for {
		line, whole, err := r.ReadLine()
		if err != nil {
			return
		}
		if left -= len(line) + 1; left < 0 {
			log.Warn("an mcp server says more than is logged; the rest is left out")
			_, _ = io.Copy(io.Discard, r) // read on, or the child would hang
			return
		}
		log.Info("mcp server", "stderr", s.text(string(line)), "cut", whole)
	}
}

// stop ends the child: it is told by the end of its input, then by a signal,
// then killed. It returns when the child is gone.
func (p *process) stop() {
	p.in.Close()
	for _, harder := range []func(*exec.Cmd){terminateGroup, killGroup} {
		t := time.NewTimer(grace)
		select {
		case <-p.exited:
		case <-t.C:
			harder(p.cmd)
		}
		t.Stop()
	}
	<-p.exited
	p.out.Close()
	p.errs.Close()
	<-p.logged
}

// end says how the child ended, if it has: its end is seen a moment after that
// of its output.
func (p *process) end() string {
	t := time.NewTimer(grace)
	defer t.Stop()
	select {
	case <-p.exited:
	case <-t.C:
		return ""
	}
	var exit *exec.ExitError
	if errors.As(p.err, &exit) {
		return exit.String()
	}
	return "exit status 0"
}

func environment(extra map[string]string) []string {
	var env []string
	for _, name := range passed {
		if v, ok := os.LookupEnv(name); ok && extra[name] == "" {
			env = append(env, name+"="+v)
		}
	}
	for name, v := range extra {
		env = append(env, name+"="+v)
	}
	slices.Sort(env)
	return env
}

func closeAll(files ...*os.File) {
	for _, f := range files {
		f.Close()
	}
}

// input is the child's standard input. A child that does not read holds one
// write up for a while, and then gets no more.
type input struct{ *os.File }

func (w input) Write(p []byte) (int, error) {
	_ = w.SetWriteDeadline(time.Now().Add(writeTimeout)) // where pipes have none, the end of the child ends the write
	n, err := w.File.Write(p)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		w.Close()
		err = context.DeadlineExceeded
	}
	return n, err
}
