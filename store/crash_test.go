package store_test

import (
	"bufio"
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"weir"
	"weir/store"
	"weir/test/pgcluster"
	"weir/test/stores"
)

// What a child process of these tests is to do, and where.
const (
	childEnv = "WEIR_STORE_TEST_CHILD"
	childURL = "WEIR_STORE_TEST_URL"
)

func TestMain(m *testing.M) {
	switch os.Getenv(childEnv) {
	case "open":
		if _, err := store.Open(context.Background(), os.Getenv(childURL)); err != nil {
			fmt.Println(weir.CodeOf(err), err)
		}
		return
	case "append":
		fmt.Println(appendForEver(os.Getenv(childURL)))
		return
	}
	os.Exit(m.Run())
}

// appendForEver appends to three conversations from nine sides at once and
// prints what was acknowledged, a line each: conversation, seq, id.
func appendForEver(url string) error {
	ctx := context.Background()
	s, err := store.Open(ctx, url)
	if err != nil {
		return err
	}
	failed := make(chan error)
	for c := range 3 {
		l, err := take(ctx, s, weir.ConversationID(fmt.Sprint("c", c)))
		if err != nil {
			return err
		}
		for n := range 3 {
			go func() { failed <- appender(ctx, s, l, n) }()
		}
	}
	return <-failed
}

// take makes a conversation if need be and takes its lease. Leases of a dead
// process have run out: they are taken for a microsecond, which is enough as
// long as nobody else comes.
func take(ctx context.Context, s store.Store, c weir.ConversationID) (l weir.Lease, err error) {
	err = s.Update(ctx, func(tx store.Tx) error {
		err := tx.InsertConversation(ctx, &weir.Conversation{ID: c, Owner: "o", Kind: weir.Chat, Generation: "g", CreatedAt: time.Now()})
		if err != nil && weir.CodeOf(err) != "conversation_exists" {
			return err
		}
		var ok bool
		if l, ok, err = tx.AcquireLease(ctx, c, "child", time.Microsecond); err == nil && !ok {
			err = fmt.Errorf("the lease of %s is not free", c)
		}
		return err
	})
	return l, err
}

func appender(ctx context.Context, s store.Store, l weir.Lease, n int) error {
	for i := 0; ; i++ {
		id := weir.MessageID(fmt.Sprintf("m-%d-%d-%d", os.Getpid(), n, i))
		var done []weir.Record
		err := s.Update(ctx, func(tx store.Tx) (err error) {
			done, err = tx.Append(ctx, l.Conversation, l.Fence, nil,
				weir.Record{ID: id, Time: time.Now(), Generation: "g", Body: &weir.UserMessage{Text: strings.Repeat("x", 10+i%2000)}},
				weir.Record{ID: id + "b", Time: time.Now(), Generation: "g", Body: &weir.Notice{}})
			return err
		})
		if err != nil {
			return err
		}
		for _, r := range done {
			fmt.Printf("%s %d %s\n", r.Conversation, r.Seq, r.ID)
		}
	}
}

func TestWhatWasAcknowledgedSurvivesKillNine(t *testing.T) {
	dir := t.TempDir()
	for name, url := range map[string]string{"sqlite": dir, "postgres": ""} {
		t.Run(name, func(t *testing.T) {
			if name == "postgres" {
				url = pgcluster.Database(t)
			}
			acknowledged := map[string]bool{}
			for range rounds(t) {
				killed(t, url, acknowledged)
				verify(t, url, acknowledged)
			}
			t.Logf("%d records acknowledged", len(acknowledged))
			if name == "sqlite" {
				integrity(t, dir)
			}
		})
	}
}

func rounds(t *testing.T) int {
	if testing.Short() {
		return 3
	}
	return 12
}

// killed runs the child until it has acknowledged a random number of records,
// kills it, and adds to what was acknowledged.
func killed(t *testing.T, url string, acknowledged map[string]bool) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), childEnv+"=append", childURL+"="+url)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	after := 1 + rand.IntN(400)
	lines := bufio.NewScanner(out)
	for n := 0; lines.Scan(); n++ {
		if len(strings.Fields(lines.Text())) != 3 {
			t.Errorf("the child says %q", lines.Text())
			break
		}
		acknowledged[lines.Text()] = true
		if n == after {
			cmd.Process.Kill() // what it acknowledged before it died is read on
		}
	}
	cmd.Process.Kill()
	cmd.Wait()
}

// verify opens the database and checks that nothing acknowledged is missing
// and that no seq is.
func verify(t *testing.T, url string, acknowledged map[string]bool) {
	t.Helper()
	s := stores.Open(t, url)
	defer s.Close()
	found := map[string]bool{}
	for i := range 3 {
		c, err := s.Conversation(t.Context(), weir.ConversationID(fmt.Sprint("c", i)))
		if weir.KindOf(err) == weir.NotFound {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		records, err := s.Records(t.Context(), &c, weir.RecordQuery{})
		if err != nil {
			t.Fatal(err)
		}
		for i, r := range records {
			if r.Seq != weir.Seq(i+1) {
				t.Fatalf("record %d of %s has seq %d", i+1, c.ID, r.Seq)
			}
			found[fmt.Sprintf("%s %d %s", r.Conversation, r.Seq, r.ID)] = true
		}
		if c.HeadSeq != weir.Seq(len(records)) || len(records)%2 != 0 {
			t.Errorf("%s has %d records, its head says %d", c.ID, len(records), c.HeadSeq)
		}
	}
	for line := range acknowledged {
		if !found[line] {
			t.Errorf("acknowledged and lost: %s", line)
		}
	}
}

func integrity(t *testing.T, dir string) {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(dir, "weir.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, check := range []string{`PRAGMA integrity_check`, `SELECT COALESCE((SELECT 'bad reference' FROM pragma_foreign_key_check LIMIT 1), 'ok')`} {
		var result string
		if err := db.QueryRow(check).Scan(&result); err != nil || result != "ok" {
			t.Errorf("%s: %s, %v", check, result, err)
		}
	}
}
