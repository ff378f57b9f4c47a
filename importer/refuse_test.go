package importer_test

import (
	"strings"
	"testing"
	"time"

	"weir"
	"weir/importer"
)

func asking(level weir.Level, category string) importer.Options {
	return importer.Options{Visibility: weir.Visibility{Level: level, Category: category}}
}

func TestWhatIsThereAndIsNotAsAskedIsRefused(t *testing.T) {
	for _, c := range []struct {
		name        string
		made, asked importer.Options
		refused     bool
	}{
		{"isolated into open", asking("", ""), asking(weir.Isolated, ""), true},
		{"a category into none", asking("", ""), asking("", "work"), true},
		{"a category into another", asking("", "home"), asking("", "work"), true},
		{"isolated of a category into isolated", asking(weir.Isolated, ""), asking(weir.Isolated, "work"), true},
		{"open into isolated", asking(weir.Isolated, ""), asking(weir.Open, ""), true},
		{"the same", asking(weir.Isolated, "work"), asking(weir.Isolated, "work"), false},
		{"open into open", asking("", ""), asking(weir.Open, ""), false},
		{"nothing into isolated", asking(weir.Isolated, "work"), asking("", ""), false},
		{"its category alone", asking(weir.Isolated, "work"), asking("", "work"), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := newMemory()
			if _, err := m.with(c.made, append(plain()[:2:2], side()[0])...); err != nil {
				t.Fatal(err)
			}
			writes, all := m.writes, append(plain(), side()...)
			for _, dry := range []bool{true, false} {
				o := c.asked
				o.DryRun = dry
				report, err := m.with(o, all...)
				if !c.refused {
					if err != nil || report.Added == 0 {
						t.Errorf("%v %+v", err, report)
					}
					continue
				}
				if weir.CodeOf(err) != "visibility_differs" || m.writes != writes || report.Added != 0 {
					t.Errorf("dry %v: %v, %d writes, %+v", dry, err, m.writes-writes, report)
				}
				if it := report.Conversations[0]; it.Refused != "visibility_differs" || !strings.Contains(it.Detail, "Change its visibility") {
					t.Errorf("%+v", it)
				}
			}
		})
	}
}

func TestAConversationThatIsLoosenedMeanwhileIsNotWrittenTo(t *testing.T) {
	m := newMemory()
	if _, err := m.with(asking(weir.Isolated, ""), plain()[:2]...); err != nil {
		t.Fatal(err)
	}
	before := len(m.logs["s1"])
	m.before = func(int) error {
		row := m.rows["s1"]
		row.Visibility.Level = weir.Open
		m.rows["s1"] = row
		return nil
	}
	if _, err := m.with(asking(weir.Isolated, ""), plain()...); weir.CodeOf(err) != "visibility_differs" || len(m.logs["s1"]) != before {
		t.Errorf("%v: %s", err, told(m.logs["s1"]))
	}
}

func TestASideChainAloneMakesAWallToo(t *testing.T) {
	m := newMemory()
	if _, err := m.with(asking(weir.Isolated, "work"), side()[2]); err != nil {
		t.Fatal(err)
	}
	m.says(t, "s1", "visibility(isolated,work)")
	if _, err := m.with(asking(weir.Isolated, "work"), side()...); err != nil {
		t.Errorf("more of it: %v", err)
	}
}

func TestWhoeverIsForestalledIsToldToTryAgain(t *testing.T) {
	m := newMemory()
	first := true
	m.before = func(int) error {
		if first {
			first = false
			m.must(t, plain()...)
		}
		return nil
	}
	if _, err := m.bring(plain()...); weir.CodeOf(err) != "import_raced" || weir.KindOf(err) != weir.Conflict {
		t.Errorf("both make it: %v", err)
	}
	first = true
	longer := append(plain(), user("u4", "u3", "more"))
	m.before = func(int) error {
		if first {
			first = false
			m.must(t, longer...)
		}
		return nil
	}
	if _, err := m.bring(longer...); weir.CodeOf(err) != "import_raced" {
		t.Errorf("both append: %v", err)
	}
	if report := m.must(t, longer...); report.Added != 0 {
		t.Errorf("again: %+v", report)
	}
}

func TestTimesThatCannotBeTrueAreReplaced(t *testing.T) {
	at := func(uuid, when string) string {
		return strings.Replace(user(uuid, "", "x"), "2026-08-01T10:00:00.000Z", when, 1)
	}
	next := today.Add(24 * time.Hour)
	m := newMemory()
	report := m.must(t, at("u0", "9999-12-31T23:59:59-23:00"), at("u1", "2026-08-01T10:00:00Z"), at("u2", "2096-01-01T00:00:00Z"),
		at("u3", "1970-01-01T00:00:00+01:00"), at("u4", "yesterday"), at("u5", "1970-01-01T00:00:00Z"),
		at("u6", next.Format(time.RFC3339)), at("u7", next.Add(time.Second).Format(time.RFC3339)), at("u8", ""))
	then := time.Date(2026, 8, 1, 10, 0, 0, 0, time.UTC)
	for i, want := range []time.Time{today, then, then, then, then, time.Unix(0, 0), next, next, next} {
		if r := m.logs["s1"][i]; !r.Time.Equal(want) {
			t.Errorf("%s: %v, want %v", r.ID, r.Time, want)
		}
	}
	if report.Repaired.Times != 5 {
		t.Errorf("%+v", report.Repaired)
	}
}

func TestACategoryIsAsLongAsElsewhere(t *testing.T) {
	m := newMemory()
	if _, err := m.with(asking("", strings.Repeat("語", 120)), plain()...); err != nil {
		t.Error(err)
	}
	if _, err := m.with(asking("", strings.Repeat("語", 121)), plain()...); weir.CodeOf(err) != "visibility_invalid" {
		t.Error(err)
	}
}
