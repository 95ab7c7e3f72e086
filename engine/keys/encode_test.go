package keys_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/animastor/orchestra/engine/keys"
)

// nasty holds what ids are made of when somebody means harm, or just writes prose.
var nasty = []string{":", "/", "*", "?", "[", "]", `\`, "%", "%3A", "%3a", "%%", ".", "..", "_", "-", " ", "+", "{", "}", "|", "\n", "\x00", "é", "e\u0301", "\U0001F600", "\xff", "a", "b", "failures", "image"}

// anyID draws any string at all: text, bytes, or a mixture made to confuse.
func anyID() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.Map(rapid.SliceOfN(rapid.SampledFrom(nasty), 0, 8), func(s []string) string { return strings.Join(s, "") }),
		rapid.String(),
		rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }),
	)
}

// reference is JavaScript's encodeURIComponent with the `*` escaped too, made of
// the standard library's escaper, which differs in a blank and five marks.
func reference(id string) string {
	return strings.NewReplacer("+", "%20", "%21", "!", "%27", "'", "%28", "(", "%29", ")").Replace(url.QueryEscape(id))
}

func TestEncode(t *testing.T) {
	for id, want := range map[string]string{
		"":             "",
		"b1":           "b1",
		"-_.!~'()":     "-_.!~'()",
		"*":            "%2A",
		"a:b/c":        "a%3Ab%2Fc",
		"?[x]\\":       "%3F%5Bx%5D%5C",
		"100%":         "100%25",
		"é":            "%C3%A9",
		"\x00\x7f\xff": "%00%7F%FF",
		"a b+c":        "a%20b%2Bc",
	} {
		require.Equal(t, want, keys.Encode(id))
	}
}

func TestEncodeProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := anyID().Draw(t, "a"), anyID().Draw(t, "b")
		checkEncode(t, a)
		require.Equal(t, a == b, keys.Encode(a) == keys.Encode(b), "not injective: %q and %q", a, b)
	})
}

// checkEncode checks one id: readable back, no separator or glob character, and
// what encodeURIComponent would say but for the `*`.
func checkEncode(t require.TestingT, id string) {
	e := keys.Encode(id)
	back, err := keys.Decode(e)
	require.NoError(t, err)
	require.Equal(t, id, back)
	require.Equal(t, reference(id), e)
	const allowed = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.!~'()%"
	require.Empty(t, strings.Trim(e, allowed), "%q encodes to %q", id, e)
	require.False(t, strings.ContainsAny(e, `:/*?[]\{}|, `+"\n\x00"), "%q encodes to %q", id, e)
}

func TestDecodeIsStrict(t *testing.T) {
	for component, problem := range map[string]string{
		"%3a":     "an escape is not a % and two upper-case hexadecimal digits",
		"%":       "an escape is not a % and two upper-case hexadecimal digits",
		"a%2":     "an escape is not a % and two upper-case hexadecimal digits",
		"%%2A":    "an escape is not a % and two upper-case hexadecimal digits",
		"%G0":     "an escape is not a % and two upper-case hexadecimal digits",
		"x%41":    "%41 is a needless escape",
		"%2E":     "%2E is a needless escape",
		"a:b":     `":" is not escaped`,
		"*":       `"*" is not escaped`,
		"%2A\xff": `"\xff" is not escaped`,
	} {
		_, err := keys.Decode(component)
		var bad *keys.ParseError
		require.ErrorAs(t, err, &bad, component)
		require.Equal(t, keys.ParseError{What: "component", Text: component, Problem: problem}, *bad)
	}
}

// TestDecodeProperties: whatever decodes is exactly what Encode writes.
func TestDecodeProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		component := rapid.OneOf(anyID(), rapid.StringMatching(`([a-c.]|%[0-4][0-9A-Fa-f]){0,6}`)).Draw(t, "component")
		if id, err := keys.Decode(component); err == nil {
			require.Equal(t, component, keys.Encode(id))
		}
	})
}

func TestEncodePlainAllocatesNothing(t *testing.T) {
	require.Zero(t, testing.AllocsPerRun(100, func() { keys.Encode("chapter-0042.scene_7") }))
}

func BenchmarkEncode(b *testing.B) {
	for _, id := range []string{"chapter-0042", "book: é*"} {
		b.Run(fmt.Sprintf("%q", id), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				keys.Encode(id)
			}
		})
	}
}
