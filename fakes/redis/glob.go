package redis

// glob says whether a pattern covers a text, as Redis' stringmatchlen does. It knows
// bytes, not runes; bytes in a range are signed; an open class ends with the pattern;
// the empty text is covered by the empty pattern alone.
func glob(pattern, text string) bool {
	for pattern != "" && text != "" {
		switch pattern[0] {
		case '*':
			for len(pattern) > 1 && pattern[1] == '*' {
				pattern = pattern[1:]
			}
			if pattern == "*" {
				return true
			}
			for ; text != ""; text = text[1:] {
				if glob(pattern[1:], text) {
					return true
				}
			}
			return false
		case '[':
			covered, rest := globClass(pattern[1:], text[0])
			if !covered {
				return false
			}
			pattern, text = rest, text[1:]
		case '?':
			pattern, text = pattern[1:], text[1:]
		case '\\':
			if len(pattern) > 1 {
				pattern = pattern[1:]
			}
			fallthrough
		default:
			if pattern[0] != text[0] {
				return false
			}
			pattern, text = pattern[1:], text[1:]
		}
		if text == "" {
			for pattern != "" && pattern[0] == '*' {
				pattern = pattern[1:]
			}
		}
	}
	return pattern == "" && text == ""
}

// globClass says whether the class at the head of a pattern, without its `[`, covers a
// byte, and returns what follows the class.
func globClass(pattern string, c byte) (covered bool, rest string) {
	not := pattern != "" && pattern[0] == '^'
	if not {
		pattern = pattern[1:]
	}
	for pattern != "" && pattern[0] != ']' {
		switch {
		case pattern[0] == '\\' && len(pattern) > 1:
			covered = covered || pattern[1] == c
			pattern = pattern[2:]
		case len(pattern) > 2 && pattern[1] == '-':
			first, last := int8(pattern[0]), int8(pattern[2])
			covered = covered || min(first, last) <= int8(c) && int8(c) <= max(first, last)
			pattern = pattern[3:]
		default:
			covered = covered || pattern[0] == c
			pattern = pattern[1:]
		}
	}
	if pattern != "" {
		pattern = pattern[1:] // the `]`
	}
	return covered != not, pattern
}
