package fact_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"weir/fact"
)

func TestTheOneFormOfAValue(t *testing.T) {
	for in, want := range map[string]string{
		// RFC 8785, section 3.2.2 and appendix B.
		`{"numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001], "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/", "literals": [null, true, false]}`: `{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}`,
		`{"\u20ac":1,"\r":2,"\ufb33":3,"1":4,"\ud83d\ude00":5,"\u0080":6,"\u00f6":7}`:                                                                                                    "{\"\\r\":2,\"1\":4,\"\u0080\":6,\"ö\":7,\"€\":1,\"😀\":5,\"\ufb33\":3}",
		`-0`: `0`, `-0.0e5`: `0`, `5e-324`: `5e-324`, `1.7976931348623157e308`: `1.7976931348623157e+308`,
		`9007199254740992`: `9007199254740992`, `295147905179352830000`: `295147905179352830000`, `999999999999999900000`: `999999999999999900000`,
		`1e21`: `1e+21`, `9.999999999999997e22`: `9.999999999999997e+22`, `0.000001`: `0.000001`, `0.0000001`: `1e-7`, `1e-10`: `1e-10`,
		`333333333.3333332`: `333333333.3333332`, `1e-400`: `0`,
		`"\b\t\n\f\r\u0000\u001f\u007f\u2028\/"`: "\"\\b\\t\\n\\f\\r\\u0000\\u001f\u007f\u2028/\"",
		" \t\r\n[ 1 , { } , [ ] ] ":              `[1,{},[]]`,
		`{"a":{"d":1,"c":2},"":3}`:               `{"":3,"a":{"c":2,"d":1}}`,
		`"\ud83d\ude00"`:                         `"😀"`,
	} {
		got, err := fact.Canonical(json.RawMessage(in))
		if err != nil || string(got) != want {
			t.Errorf("%s:\n got %s, %v\nwant %s", in, got, err, want)
		}
	}
}

func TestWhatHasNoOneFormIsRefused(t *testing.T) {
	nested := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	for name, in := range map[string]string{
		"nothing": "", "white space": "  ", "two values": "1 2", "an open list": "[1", "an open member": `{"a"`, "a trailing comma": "[1,]",
		"a doubled name": `{"a":1,"a":1}`, "a name doubled by an escape": `{"a":1,"\u0061":1}`, "a doubled name below": `[{"x":{"b":1,"b":2}}]`,
		"a number beyond a double": "1e400", "a leading zero": "01", "a bare point": ".5", "a plus": "+1", "two signs": "--1", "NaN": "NaN",
		"half a pair": `"\ud83d"`, "the other half": `"\ude00"`, "halves in the wrong order": `"\ude00\ud83d"`, "half a pair and text": `"\ud83dx"`,
		"bytes that are not UTF-8": "\"\xff\"", "a surrogate in UTF-8": "\"\xed\xa0\x80\"", "a line break in a string": "\"a\nb\"",
		"an unknown escape": `"\x41"`, "an escape cut off": `"\u00`, "a string cut off": `"\`, "a name that is none": `{1:2}`, "a comma first": `[,1]`,
		"too deep": nested(66), "too deep by far": strings.Repeat("[", 900_000), "too long": `"` + strings.Repeat("x", 1<<20) + `"`, "a mark at the start": "\ufeff1",
	} {
		if got, err := fact.Canonical(json.RawMessage(in)); err == nil {
			t.Errorf("%s: gives %.60s", name, got)
		}
	}
	if _, err := fact.Canonical(json.RawMessage(nested(60))); err != nil {
		t.Error(err)
	}
}

// FuzzCanonical compares with another implementation, and with what
// encoding/json reads.
func FuzzCanonical(f *testing.F) {
	for _, s := range []string{`{"b":[1,2.50,-0],"a":"\u00e9\ud83d\ude00"}`, `{"a":1,"a":2}`, `1e21`, `1E-7`, `"\ud800"`, `[[[[]]]]`, ` null `, `{"\u20ac":1,"\r":2}`, "\"\xff\"", `123456789012345678901234567890`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		got, err := fact.Canonical(in)
		other := jsontext.Value(bytes.Clone(in))
		otherErr := other.Canonicalize()
		if err == nil != (otherErr == nil) {
			if otherErr == nil && (strings.Contains(err.Error(), "too deep") || strings.Contains(err.Error(), "1 MiB") || strings.Contains(err.Error(), "double")) {
				return // they have no such limits
			}
			t.Fatalf("%q: %v, another says %v", in, err, otherErr)
		}
		if err != nil {
			return
		}
		if !bytes.Equal(got, other) {
			t.Fatalf("%q: %s, another says %s", in, got, other)
		}
		again, err := fact.Canonical(got)
		if err != nil || !bytes.Equal(again, got) {
			t.Fatalf("%s is %s the second time, %v", got, again, err)
		}
		var was, is any
		if json.Unmarshal(in, &was) != nil || json.Unmarshal(got, &is) != nil || !reflect.DeepEqual(was, is) {
			t.Fatalf("%q is read as %v, its form %s as %v", in, was, got, is)
		}
	})
}
