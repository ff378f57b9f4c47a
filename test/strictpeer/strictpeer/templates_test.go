package strictpeer

import (
	"encoding/json"
	"strings"
	"testing"
)

const (
	chatTold  = `{"role":"system","content":"note"}`
	chatMore  = `{"role":"user","content":"more"}`
	chatSays  = `{"role":"assistant","content":"hello"}`
	chatMused = `{"role":"assistant","content":null,"reasoning_content":"r","tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]}`
)

func TestVariantsOfChatCompletionsRefuseWhatTheyRefuse(t *testing.T) {
	const (
		first     = "System message must be at the beginning."
		alternate = "Conversation roles must alternate user/assistant/user/assistant/..."
		except    = "After the optional system message, conversation roles must alternate user and assistant roles except for tool calls and results."
		passed    = "The reasoning_content in the thinking mode must be passed back to the API."
		nobody    = "Unexpected message role."
	)
	for _, c := range []struct {
		name, profile, messages, want string // "": taken
	}{
		{"17 a note later", QwenTemplate, baseline + "," + hi + "," + chatSays + "," + chatTold + "," + chatMore, first},
		{"a note at the end", QwenTemplate, baseline + "," + hi + "," + chatTold, first},
		{"two notes first", QwenTemplate, baseline + "," + chatTold + "," + hi, first},
		{"a developer", QwenTemplate, `{"role":"developer","content":"be good"},` + hi, nobody},
		{"two questions", QwenTemplate, baseline + "," + hi + "," + chatMore, ""},
		{"a call, its result and words", QwenTemplate, baseline + "," + hi + "," + chatCalled + "," + chatResult + "," + chatMore, ""},

		{"18 two questions", AlternatingTemplate, baseline + "," + hi + "," + chatMore, alternate},
		{"two answers", AlternatingTemplate, hi + "," + chatSays + "," + chatSays + "," + hi, alternate},
		{"an answer first", AlternatingTemplate, chatSays + "," + hi, alternate},
		{"a note later", AlternatingTemplate, baseline + "," + hi + "," + chatSays + "," + chatTold + "," + chatMore, alternate},
		{"words after a result", AlternatingTemplate, hi + "," + chatCalled + "," + chatResult + "," + chatMore, except},
		{"words after a result and an answer", AlternatingTemplate, hi + "," + chatCalled + "," + chatResult + "," + chatSays + "," + chatMore, ""},
		{"calls one after another", AlternatingTemplate, hi + "," + chatCalled + "," + chatResult + "," + strings.ReplaceAll(chatCalled+","+chatResult, "c1", "c2"), ""},
		{"question and answer", AlternatingTemplate, baseline + "," + hi + "," + chatSays + "," + chatMore, ""},

		{"19 a note later", DroppingTemplate, baseline + "," + hi + "," + chatSays + "," + chatTold + "," + chatMore, ""},
		{"anything goes", DroppingTemplate, hi + "," + hi + "," + chatTold, ""},

		{"21 a call without its reasoning", DeepSeek, hi + "," + chatCalled + "," + chatResult, passed},
		{"a call without its reasoning, long ago", DeepSeek, hi + "," + chatCalled + "," + chatResult + "," + chatSays + "," + hi, passed},
		{"a call with its reasoning", DeepSeek, hi + "," + chatMused + "," + chatResult, ""},
		{"a call with empty reasoning", DeepSeek, hi + "," + strings.Replace(chatMused, `"r"`, `""`, 1) + "," + chatResult, ""},
		{"an answer without reasoning", DeepSeek, hi + "," + chatSays + "," + hi, ""},
		{"a note later", DeepSeek, baseline + "," + hi + "," + chatSays + "," + chatMore + "," + chatTold, ""},
		{"a note between call and result", DeepSeek, hi + "," + chatMused + "," + chatTold + "," + chatResult, "An assistant message with 'tool_calls' must be followed by tool messages"},
		{"a developer", DeepSeek, `{"role":"developer","content":"be good"},` + hi, "Failed to deserialize the JSON body into the target type: messages[0].role: unknown variant `developer`"},
	} {
		t.Run(c.profile+"/"+c.name, func(t *testing.T) {
			p := New(c.profile)
			status, answer := post(t, p, chat(c.messages))
			var doc struct{ Error struct{ Message string } }
			if err := json.Unmarshal([]byte(answer), &doc); err != nil {
				t.Fatal(err, answer)
			}
			want := 400
			if c.want == "" {
				want = 200
			}
			if status != want || !strings.HasPrefix(doc.Error.Message, c.want) || (c.want == "") != (len(p.Refusals()) == 0) {
				t.Errorf("status %d, %q; want %q", status, doc.Error.Message, c.want)
			}
		})
	}
}

func TestALlamaCppServerCallsItsTemplatesRefusalAFaultOfItsOwn(t *testing.T) {
	for profile, messages := range map[string]string{QwenTemplate: hi + "," + chatTold, AlternatingTemplate: hi + "," + chatMore} {
		status, answer := post(t, New(profile, Jinja()), chat(messages))
		var doc struct {
			Error struct {
				Message, Type string
				Code          int
			}
		}
		if err := json.Unmarshal([]byte(answer), &doc); err != nil {
			t.Fatal(err)
		}
		if e := doc.Error; status != 500 || e.Code != 500 || e.Type != "server_error" || !strings.HasPrefix(e.Message, "Jinja Exception: ") {
			t.Errorf("%s: status %d: %s", profile, status, answer)
		}
	}
	if status, answer := post(t, New(QwenTemplate, Jinja()), chat(`{"role":"user","content":""}`)); status != 400 {
		t.Errorf("what is no template's business: status %d: %s", status, answer)
	}
}

// A model behind such a template never learns what it was told, and nothing
// says so: only a canary finds out.
func TestADroppedMessageIsNotSeen(t *testing.T) {
	for profile, seen := range map[string]bool{DroppingTemplate: false, DeepSeek: true} {
		p := New(profile)
		var last string
		p.Otherwise(func(r *Request) Answer { last = r.Last; return Answer{Say("ok")} })
		canary := `{"role":"system","content":"canary"}`
		if status, answer := post(t, p, chat(baseline+","+hi+","+chatSays+","+chatMore+","+canary)); status != 200 {
			t.Fatalf("status %d: %s", status, answer)
		}
		if strings.Contains(last, "canary") != seen || !strings.Contains(last, "more") {
			t.Errorf("%s: it saw %q", profile, last)
		}
	}
}

func TestDeepSeekCountsHitsAndMisses(t *testing.T) {
	p := New(DeepSeek)
	type counts struct {
		Prompt int  `json:"prompt_tokens"`
		Hit    *int `json:"prompt_cache_hit_tokens"`
		Miss   *int `json:"prompt_cache_miss_tokens"`
	}
	ask := func(messages string) counts {
		t.Helper()
		_, answer := post(t, p, chat(messages))
		var r struct{ Usage counts }
		if err := json.Unmarshal([]byte(answer), &r); err != nil || r.Usage.Hit == nil || r.Usage.Miss == nil || *r.Usage.Hit+*r.Usage.Miss != r.Usage.Prompt {
			t.Fatalf("%v: %s", err, answer)
		}
		return r.Usage
	}
	long := `{"role":"user","content":"` + strings.Repeat("word ", 200) + `"}`
	if u := ask(long); *u.Hit != 0 {
		t.Errorf("the first time %d were read", *u.Hit)
	}
	if u := ask(long + "," + chatSays + "," + hi); *u.Hit < 192 || *u.Hit%64 != 0 {
		t.Errorf("then %d were read", *u.Hit)
	}
}
