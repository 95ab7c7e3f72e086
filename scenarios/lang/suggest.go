package lang

import "strings"

// suggestOr is `did you mean x?` for the candidate nearest to a misspelt word, or
// other if none is near.
func suggestOr(word string, candidates []string, other string) string {
	best, least := "", 1+min(2, (len(word)+1)/3)
	for _, c := range candidates {
		if d := distance(strings.ToLower(word), strings.ToLower(c)); d < least {
			best, least = c, d
		}
	}
	if best == "" {
		return other
	}
	return "did you mean " + best + "?"
}

// distance counts the letters to insert, delete, replace or swap with a neighbour
// to make a of b (optimal string alignment).
func distance(a, b string) int {
	r, s := []rune(a), []rune(b)
	if len(r) > 64 || len(s) > 64 {
		return 64
	}
	d := make([][]int, len(r)+1)
	for i := range d {
		d[i] = make([]int, len(s)+1)
		d[i][0] = i
	}
	for j := range s {
		d[0][j+1] = j + 1
	}
	for i := 1; i <= len(r); i++ {
		for j := 1; j <= len(s); j++ {
			cost := 1
			if r[i-1] == s[j-1] {
				cost = 0
			}
			d[i][j] = min(d[i-1][j]+1, d[i][j-1]+1, d[i-1][j-1]+cost)
			if i > 1 && j > 1 && r[i-1] == s[j-2] && r[i-2] == s[j-1] {
				d[i][j] = min(d[i][j], d[i-2][j-2]+1)
			}
		}
	}
	return d[len(r)][len(s)]
}
