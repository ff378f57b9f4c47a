package pgcluster

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Cluster is a private PostgreSQL server.
type Cluster struct {
	URL string // of its database "postgres", as superuser

	keeper *exec.Cmd
	alive  io.Closer // closing it ends the server
	log    *logTail
	gone   chan struct{} // closed when the keeper has ended
	once   sync.Once
}

// keep runs the server and waits on its input, which nothing is ever written
// to: it ends when the process that holds the other end closes it or dies,
// however it dies. Then the server is shut down fast and its files go.
const keep = `
"$1" -D "$2/data" -k "$2" -p "$3" -h 127.0.0.1 -F \
	-c full_page_writes=off -c max_connections=300 -c shared_buffers=64MB \
	-c log_min_messages=log -c lc_messages=C -c log_checkpoints=off -c deadlock_timeout=100ms \
	</dev/null &
server=$!
exec 3<&0
(read -r nothing <&3; kill -INT $server) 2>/dev/null &
reader=$!
wait $server
kill $reader 2>/dev/null
rm -rf "$2"
`

// Start makes a new cluster in a temporary directory and starts it on a free
// port of the loopback interface. It stops with Stop or with this process.
func Start(ctx context.Context) (*Cluster, error) {
	bin, err := programs(ctx)
	if err != nil {
		return nil, err
	}
	as, err := unprivileged()
	if err != nil {
		return nil, err
	}
	var c *Cluster
	for range 3 { // the port may be taken in between
		if c, err = start(ctx, bin, as); err == nil {
			return c, nil
		}
	}
	return nil, err
}

func start(ctx context.Context, bin string, as *syscall.Credential) (*Cluster, error) {
	dir, password, err := initialise(ctx, bin, as)
	if err != nil {
		return nil, err
	}
	port, err := freePort()
	if err != nil {
		os.RemoveAll(dir)
		return nil, err
	}
	c := &Cluster{log: newLogTail(), gone: make(chan struct{})}
	c.keeper = exec.Command("/bin/sh", "-c", keep, "pgcluster", filepath.Join(bin, "postgres"), dir, strconv.Itoa(port))
	c.keeper.Dir = dir
	c.keeper.Env = []string{"PATH=/usr/bin:/bin", "LC_ALL=C"}
	c.keeper.SysProcAttr = &syscall.SysProcAttr{Credential: as, Setpgid: true}
	if c.alive, err = c.keeper.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := c.keeper.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := c.keeper.Start(); err != nil {
		os.RemoveAll(dir)
		return nil, err
	}
	go func() {
		defer close(c.gone)
		c.log.read(out)
		c.keeper.Wait()
	}()
	c.URL = (&url.URL{
		Scheme: "postgres", User: url.UserPassword("weir", password),
		Host: net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), Path: "/postgres", RawQuery: "sslmode=disable",
	}).String()
	select {
	case <-c.log.ready:
		return c, nil
	case <-c.gone:
		err = errors.New("it ended at once")
	case <-time.After(time.Minute):
		err = errors.New("it was not ready within a minute")
	case <-ctx.Done():
		err = ctx.Err()
	}
	c.Stop()
	return nil, fmt.Errorf("PostgreSQL did not start: %w: %s", err, c.log)
}

// Stop shuts the server down and removes its files. It may be called twice.
func (c *Cluster) Stop() {
	c.once.Do(func() { c.alive.Close() })
	<-c.gone
}

// initialise makes an empty cluster that only knows the user weir.
func initialise(ctx context.Context, bin string, as *syscall.Credential) (dir, password string, err error) {
	if dir, err = os.MkdirTemp("/tmp", "weir-pg-"); err != nil {
		return "", "", err
	}
	defer func() {
		if err != nil {
			os.RemoveAll(dir)
		}
	}()
	password = rand.Text()
	file := filepath.Join(dir, "password")
	if err := os.WriteFile(file, []byte(password), 0o600); err != nil {
		return "", "", err
	}
	if as != nil {
		for _, name := range []string{dir, file} {
			if err := os.Chown(name, int(as.Uid), int(as.Gid)); err != nil {
				return "", "", err
			}
		}
	}
	// A language's order of letters finds statements that rely on that of
	// bytes by accident. Not every build has one.
	for _, locale := range [][]string{{"--locale=C", "--locale-provider=icu", "--icu-locale=en-US"}, {"--no-locale"}} {
		cmd := exec.CommandContext(ctx, filepath.Join(bin, "initdb"), append(locale, "-D", filepath.Join(dir, "data"), "-U", "weir",
			"-A", "scram-sha-256", "--pwfile", file, "-E", "UTF8", "--no-sync")...)
		cmd.Dir = dir
		cmd.Env = []string{"PATH=/usr/bin:/bin", "LC_ALL=C"}
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: as}
		out, failed := cmd.CombinedOutput()
		if failed == nil {
			return dir, password, nil
		}
		err = fmt.Errorf("initdb failed: %w: %s", failed, tail(string(out)))
	}
	return "", "", err
}

// unprivileged is whom the server runs as; PostgreSQL refuses to run as root.
func unprivileged() (*syscall.Credential, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err1 := strconv.ParseUint(u.Uid, 10, 32)
		gid, err2 := strconv.ParseUint(u.Gid, 10, 32)
		if err1 == nil && err2 == nil {
			return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
		}
	}
	return nil, errors.New("PostgreSQL does not run as root, and there is neither a user postgres nor nobody")
}

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

// logTail reads the server's log, tells when it is ready and keeps the last
// lines for the case that it never is.
type logTail struct {
	ready chan struct{}
	mu    sync.Mutex
	lines []string
}

func newLogTail() *logTail { return &logTail{ready: make(chan struct{})} }

func (l *logTail) read(r io.Reader) {
	seen := false
	for s := bufio.NewScanner(r); s.Scan(); {
		if !seen && strings.Contains(s.Text(), "ready to accept connections") {
			seen = true
			close(l.ready)
		}
		l.mu.Lock()
		l.lines = append(l.lines[max(0, len(l.lines)-30):], s.Text())
		l.mu.Unlock()
	}
	io.Copy(io.Discard, r) // a line too long ends the scanner, not the server
}

func (l *logTail) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.lines, "\n")
}
