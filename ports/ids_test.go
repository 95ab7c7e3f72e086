package ports_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/animastor/orchestra/ports"
)

func TestValidateID(t *testing.T) {
	for _, id := range []string{"b1", "a:b", "*", "..", " ", "\u0301e", "\U0001F600", strings.Repeat("x", 1024)} {
		require.NoError(t, ports.ValidateID("book", id))
	}
	for id, problem := range map[string]string{
		"":                             "empty",
		strings.Repeat("x", 1025):      "1025 bytes long",
		"a\x00b":                       "holds a NUL",
		"\xff":                         "not valid UTF-8",
		"\xed\xa0\x80":                 "not valid UTF-8", // an unpaired surrogate
		strings.Repeat("é", 512) + "x": "1025 bytes long",
	} {
		var bad *ports.IDError
		require.ErrorAs(t, ports.ValidateID("unit", id), &bad, "%q", id)
		require.Equal(t, ports.IDError{Kind: "unit", ID: id, Problem: problem}, *bad)
		require.Less(t, len(bad.Error()), 200, "a long id floods the message")
	}
}

func TestValidate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		id := ports.SceneID{
			Book:    rapid.String().Draw(t, "book"),
			Chapter: rapid.String().Draw(t, "chapter"),
			Scene:   rapid.String().Draw(t, "scene"),
		}
		// The error of a scene is that of its first bad component.
		want := ports.ValidateID("book", id.Book)
		if want == nil {
			want = ports.ValidateID("chapter", id.Chapter)
		}
		if want == nil {
			want = ports.ValidateID("scene", id.Scene)
		}
		require.Equal(t, want, id.Validate())
	})
}
