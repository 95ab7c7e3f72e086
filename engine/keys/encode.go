package keys

import (
	"fmt"
	"strings"
)

// ParseError says that a text is not what this package builds.
type ParseError struct {
	What    string // component, key, job id, member
	Text    string
	Problem string
}

func (e *ParseError) Error() string {
	return fmt.Sprintf("keys: %s %q: %s; only package keys may build it", e.What, e.Text, e.Problem)
}

const hexDigits = "0123456789ABCDEF"

// plain holds the bytes that Encode keeps: those of JavaScript's
// encodeURIComponent without the `*`, which is a glob character in Redis.
var plain = func() (t [256]bool) {
	for _, c := range []byte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.!~'()") {
		t[c] = true
	}
	return t
}()

// Encode turns any string into a component: each byte other than
// `A-Z a-z 0-9 - _ . ! ~ ' ( )` becomes %XX, in upper case. A plain id is returned
// as it is, without an allocation.
func Encode(id string) string {
	escapes := 0
	for i := 0; i < len(id); i++ {
		if !plain[id[i]] {
			escapes++
		}
	}
	if escapes == 0 {
		return id
	}
	b := make([]byte, 0, len(id)+2*escapes)
	for i := 0; i < len(id); i++ {
		if c := id[i]; plain[c] {
			b = append(b, c)
		} else {
			b = append(b, '%', hexDigits[c>>4], hexDigits[c&15])
		}
	}
	return string(b)
}

// Decode is the inverse of Encode. Anything that Encode does not write is refused
// with a *ParseError: a lower-case or needless escape, a raw byte that should have
// been one. So no two components decode to one id.
func Decode(component string) (string, error) {
	id, problem := decode(component)
	if problem != "" {
		return "", &ParseError{"component", component, problem}
	}
	return id, nil
}

func decode(component string) (id, problem string) {
	escaped := false
	for i := 0; i < len(component); i++ {
		if c := component[i]; c == '%' {
			escaped = true
		} else if !plain[c] {
			return "", fmt.Sprintf("%q is not escaped", component[i:i+1])
		}
	}
	if !escaped {
		return component, ""
	}
	b := make([]byte, 0, len(component))
	for i := 0; i < len(component); i++ {
		c := component[i]
		if c == '%' {
			var ok bool
			if c, ok = unescape(component[i:]); !ok {
				return "", "an escape is not a % and two upper-case hexadecimal digits"
			}
			if plain[c] {
				return "", component[i:i+3] + " is a needless escape"
			}
			i += 2
		}
		b = append(b, c)
	}
	return string(b), ""
}

// unescape reads the %XX at the head of s.
func unescape(s string) (c byte, ok bool) {
	if len(s) < 3 {
		return 0, false
	}
	high, low := strings.IndexByte(hexDigits, s[1]), strings.IndexByte(hexDigits, s[2])
	return byte(high<<4 | low), high >= 0 && low >= 0
}
