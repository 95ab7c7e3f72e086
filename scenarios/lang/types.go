package lang

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/animastor/orchestra/engine/asset"
	"github.com/animastor/orchestra/engine/outcome"
	"github.com/animastor/orchestra/ports"
	"github.com/animastor/orchestra/scenarios/syntax"
)

// Type is what an operand, or the value of a key, may be.
type Type struct {
	Name  string // as usage lines write it, in capitals, or the words themselves
	Doc   string // for the manual; empty if the name says it
	parse func(*scope, syntax.Word) (any, *syntax.Error)
}

// DurationRange is a duration, or a range of which the seed draws one: `2s..10s`.
type DurationRange struct{ Min, Max time.Duration }

// CountRange is a count (Min == Max) or a range: `8..9`, or `2..` without an end,
// where Max is math.MaxInt64.
type CountRange struct{ Min, Max int64 }

// The types of the language. The Go type of the value is that of the accessor of
// Args with the same name, unless the comment says otherwise.
var (
	typeDuration      = Type{"DURATION", "with a unit: `500s`, `15m`, `1h30m`, `50us`, `1ms`", parseDuration}
	typeOffset        = Type{"OFFSET", "a duration that may be negative: `-5s`", parseOffset} // Duration
	typeDurationRange = Type{"DURATIONS", "a duration, or a range drawn from the seed: `2s..10s`", parseDurationRange}
	typeCount         = counts(0, math.MaxInt64)
	typeCountRange    = Type{"COUNTS", "a count, or a range: `3`, `8..9`, `2..` without an end", parseCountRange}
	typePercent       = Type{"PERCENT", "`20%`", parsePercent}
	typeYesNo         = Type{"yes|no", "", parseYesNo}
	typeText          = Type{"TEXT", "a word, or a quoted string with the escapes of Go", parseText}                                                                                      // Text
	typeGlob          = Type{"GLOB", "`*` stands for any text; ids are spelt, and quoted, as the trace spells them: `\"a:b\"/c1/*`; a glob with a blank is quoted as a whole", parseGlob} // Text
	typeID            = Type{"ID", "1 to 1,024 bytes; anything but letters, digits, `-`, `_` and `.` is quoted", parseID}                                                                 // Text
	typeIDs           = Type{"IDS", "a list of ids: `u1,u2`", func(sc *scope, w syntax.Word) (any, *syntax.Error) { return parseList(sc, w, parseID) }}                                   // Names
	typeSeeds         = Type{"SEEDS", "`7`, `1..10` or `1,5,9`; at most 20", parseSeeds}
	typeStages        = Type{"STAGES", "a list of `audio`, `image` and `video`", parseStages}                                                                                     // Names
	typeProcess       = Type{"PROCESS", "`e1`, `e2`, … are the engines, `hub` the hub, `image-1`, `image-2`, … the workers, `image-w1-1`, … those of workspace w1", parseProcess} // Text
	typeWorkspace     = Type{"WORKSPACE", "letters and digits: `w1`", parseWorkspace}                                                                                             // Text
	typeCode          = Type{"CODE", "a failure code of engine/outcome, as in `job_timeout`", parseCode}                                                                          // Text
	typeStage         = Type{"STAGE-TYPE", "`audio`, `image` or `video`", func(_ *scope, w syntax.Word) (any, *syntax.Error) { return stageWord(w) }}                             // Text
)

// fail makes an error at a word; the vetter adds the file.
func fail(w syntax.Word, hint, format string, args ...any) *syntax.Error {
	return &syntax.Error{Pos: w.Pos, Msg: fmt.Sprintf(format, args...), Hint: hint}
}

// words is an enumeration; Args.Text returns the word.
func words(list ...string) Type {
	return Type{Name: strings.Join(list, "|"), parse: func(_ *scope, w syntax.Word) (any, *syntax.Error) {
		if !slices.Contains(list, w.Raw) {
			return nil, fail(w, suggestOr(w.Raw, list, "one of "+strings.Join(list, ", ")), "unknown word %s", w.Raw)
		}
		return w.Raw, nil
	}}
}

// counts is a whole number within bounds.
func counts(least, most int64) Type {
	return Type{"COUNT", "a whole number: `3`", func(_ *scope, w syntax.Word) (any, *syntax.Error) {
		n, err := parseInt(w)
		if err == nil && n < least {
			return nil, fail(w, "", "%s is too small: at least %d", w.Raw, least)
		}
		if err == nil && n > most {
			return nil, fail(w, "", "%s is too big: at most %d", w.Raw, most)
		}
		return n, err
	}}
}

func parseInt(w syntax.Word) (int64, *syntax.Error) {
	n, err := strconv.ParseUint(w.Raw, 10, 63)
	if err != nil {
		return 0, fail(w, "write a whole number, as in 3", "bad count %s", w.Raw)
	}
	return int64(n), nil
}

func parseOffset(_ *scope, w syntax.Word) (any, *syntax.Error) {
	d, err := time.ParseDuration(w.Raw)
	switch _, number := strconv.ParseFloat(w.Raw, 64); {
	case number == nil:
		return nil, fail(w, "write a unit, as in "+w.Raw+"s", "bad duration %s", w.Raw)
	case err != nil || strings.HasPrefix(w.Raw, "+"):
		return nil, fail(w, "as in 500s, 15m, 1h30m, 50us", "bad duration %s", w.Raw)
	}
	return d, nil
}

// durationMax is the longest duration, and the longest run: ten years.
const durationMax = 10 * 365 * 24 * time.Hour

func parseDuration(sc *scope, w syntax.Word) (any, *syntax.Error) {
	d, err := parseOffset(sc, w)
	if err == nil && strings.HasPrefix(w.Raw, "-") {
		return nil, fail(w, "", "bad duration %s: it is negative", w.Raw)
	}
	if err == nil && d.(time.Duration) > durationMax {
		return nil, fail(w, "at most "+durationMax.String(), "bad duration %s: it is too long", w.Raw)
	}
	return d, err
}

// typePeriod is a Duration that is more than none.
var typePeriod = Type{"DURATION", "", parsePeriod}

// parsePeriod takes whole milliseconds, as Redis does, and at least one.
func parsePeriod(sc *scope, w syntax.Word) (any, *syntax.Error) {
	d, err := parseDuration(sc, w)
	if err == nil && (d.(time.Duration) <= 0 || d.(time.Duration)%time.Millisecond != 0) {
		return nil, fail(w, "as in 30s", "bad duration %s: it must be whole milliseconds, and at least one", w.Raw)
	}
	return d, err
}

// ends cuts `a..b`; a word without dots is both ends.
func ends(w syntax.Word) (lo, hi syntax.Word) {
	left, right, found := strings.Cut(w.Raw, "..")
	if !found {
		return w, w
	}
	lo, hi = syntax.Word{Pos: w.Pos, Raw: left}, syntax.Word{Pos: w.Pos, Raw: right}
	hi.Col += utf8.RuneCountInString(left) + 2
	return lo, hi
}

func parseDurationRange(sc *scope, w syntax.Word) (any, *syntax.Error) {
	lo, hi := ends(w)
	a, err := parseDuration(sc, lo)
	if err != nil {
		return nil, err
	}
	b, err := parseDuration(sc, hi)
	if err != nil {
		return nil, err
	}
	r := DurationRange{a.(time.Duration), b.(time.Duration)}
	if r.Min > r.Max {
		return nil, fail(w, "write the smaller end first", "bad range %s", w.Raw)
	}
	return r, nil
}

func parseCountRange(_ *scope, w syntax.Word) (any, *syntax.Error) {
	lo, hi := ends(w)
	r := CountRange{Max: math.MaxInt64}
	var err *syntax.Error
	if r.Min, err = parseInt(lo); err != nil {
		return nil, err
	}
	if hi.Raw != "" {
		if r.Max, err = parseInt(hi); err != nil {
			return nil, err
		}
	}
	if r.Min > r.Max {
		return nil, fail(w, "write the smaller end first", "bad range %s", w.Raw)
	}
	return r, nil
}

func parsePercent(_ *scope, w syntax.Word) (any, *syntax.Error) {
	number, found := strings.CutSuffix(w.Raw, "%")
	f, err := strconv.ParseFloat(number, 64)
	if !found || err != nil || !(f > 0 && f <= 100) {
		return nil, fail(w, "above 0% and up to 100%, as in 20%", "bad percentage %s", w.Raw)
	}
	return f / 100, nil
}

func parseYesNo(_ *scope, w syntax.Word) (any, *syntax.Error) {
	if w.Raw != "yes" && w.Raw != "no" {
		return nil, fail(w, "", "%s is neither yes nor no", w.Raw)
	}
	return w.Raw == "yes", nil
}

func parseText(_ *scope, w syntax.Word) (any, *syntax.Error) { return w.Text(), nil }

// parseGlob keeps the quotes, which are part of how a trace spells an odd id. Only
// a word that is quoted as a whole for the sake of a blank loses them.
func parseGlob(_ *scope, w syntax.Word) (any, *syntax.Error) {
	if w.Literal() && strings.Contains(w.Text(), " ") {
		return w.Text(), nil
	}
	return w.Raw, nil
}

func parseID(_ *scope, w syntax.Word) (any, *syntax.Error) {
	id := w.Text()
	switch {
	case w.Raw == "":
		return nil, fail(w, "between / or , stands an id", "an id is missing")
	case !w.Literal() && ports.Quote(w.Raw) != w.Raw:
		return nil, fail(w, "write "+ports.Quote(id), "the id %s needs quotes", w.Raw)
	case id == "" || len(id) > 1024 || !utf8.ValidString(id) || strings.ContainsRune(id, 0):
		return nil, fail(w, "1 to 1,024 bytes of UTF-8 without NUL", "bad id %s", shorten(w.Raw))
	}
	return id, nil
}

func shorten(s string) string {
	if r := []rune(s); len(r) > 40 {
		return string(r[:40]) + "…"
	}
	return s
}

// names is a count of ids `<prefix>1`, `<prefix>2`, … or a list of ids; Args.Names
// returns them.
func names(prefix string, least, most int64) Type {
	doc := fmt.Sprintf("a count of ids (`2`: `%s1`, `%s2`) or a list of them: `x,\"b:c1\"`; what looks like a number and is no count is quoted", prefix, prefix)
	return Type{"NAMES", doc, func(sc *scope, w syntax.Word) (any, *syntax.Error) {
		if strings.Trim(w.Raw, "0123456789") != "" {
			return parseList(sc, w, parseName)
		}
		n, err := counts(least, most).parse(sc, w)
		if err != nil {
			return nil, err
		}
		list := make([]string, n.(int64))
		for i := range list {
			list[i] = prefix + strconv.Itoa(i+1)
		}
		return list, nil
	}}
}

// numberLike is what somebody writes who means a count, or a range of them.
var numberLike = regexp.MustCompile(`^[-+.]?[0-9]([0-9_.+-]|[eE][0-9])*$`)

// parseName reads an id where a count may stand: a whole number is one in a list only.
func parseName(sc *scope, w syntax.Word) (any, *syntax.Error) {
	if numberLike.MatchString(w.Raw) && strings.Trim(w.Raw, "0123456789") != "" {
		return nil, fail(w, "write 3 for a count, or "+strconv.Quote(w.Raw)+" for an id", "bad count %s", w.Raw)
	}
	return parseID(sc, w)
}

// parseList reads `a,b` of which each element is a string and none comes twice.
func parseList(sc *scope, w syntax.Word, element func(*scope, syntax.Word) (any, *syntax.Error)) (any, *syntax.Error) {
	var list []string
	for _, part := range w.Split(',') {
		v, err := element(sc, part)
		if err != nil {
			return nil, err
		}
		if slices.Contains(list, v.(string)) {
			return nil, fail(part, "", "%s is there twice", part.Raw)
		}
		list = append(list, v.(string))
	}
	return list, nil
}

func parseStages(sc *scope, w syntax.Word) (any, *syntax.Error) {
	return parseList(sc, w, typeStage.parse)
}

// SeedsMax is how many seeds a file may name.
const SeedsMax = 20

func parseSeeds(_ *scope, w syntax.Word) (any, *syntax.Error) {
	var seeds []uint64
	for _, part := range w.Split(',') {
		lo, hi := ends(part)
		a, err := parseInt(lo)
		if err != nil {
			return nil, err
		}
		b, err := parseInt(hi)
		if err != nil {
			return nil, err
		}
		if a > b {
			return nil, fail(part, "write the smaller end first", "bad range %s", part.Raw)
		}
		if b-a >= SeedsMax || len(seeds)+int(b-a) >= SeedsMax {
			return nil, fail(part, "sweep more with --seeds", "a file names at most %d seeds", SeedsMax)
		}
		for s := a; s <= b; s++ {
			if slices.Contains(seeds, uint64(s)) {
				return nil, fail(part, "", "seed %d is there twice", s)
			}
			seeds = append(seeds, uint64(s))
		}
	}
	return seeds, nil
}

func parseProcess(sc *scope, w syntax.Word) (any, *syntax.Error) {
	n, isEngine := numbered(w.Raw, "e")
	_, isNumbered := numbered(w.Raw[strings.LastIndex(w.Raw, "-")+1:], "")
	isWorker := isNumbered && workerName.MatchString(w.Raw)
	switch {
	case w.Raw == "hub", isWorker, isEngine && (n <= sc.engines || sc.unsure):
		return w.Raw, nil
	case isEngine:
		return nil, fail(w, fmt.Sprintf("the engines are e1 to e%d; `engines N` comes before", sc.engines), "unknown process %s", w.Raw)
	}
	return nil, fail(w, "as in e1, hub or image-1", "bad process %s", w.Raw)
}

// workerName is the name of a worker, with that of its workspace if it has one.
var workerName = regexp.MustCompile("^(" + strings.Join(asset.Stages(), "|") + ")-([A-Za-z0-9]+-)?[0-9]+$")

func parseWorkspace(_ *scope, w syntax.Word) (any, *syntax.Error) {
	if !plainWord.MatchString(w.Raw) {
		return nil, fail(w, "as in workspace=w1", "bad workspace %s: it is part of the names of its workers", w.Raw)
	}
	return w.Raw, nil
}

var plainWord = regexp.MustCompile("^[A-Za-z0-9]+$")

// numbered takes the number, from 1, out of `<prefix><number>`.
func numbered(name, prefix string) (n int, ok bool) {
	digits, ok := strings.CutPrefix(name, prefix)
	n, err := strconv.Atoi(digits)
	return n, ok && err == nil && n > 0 && digits == strconv.Itoa(n)
}

func parseCode(sc *scope, w syntax.Word) (any, *syntax.Error) {
	var list []string
	for _, c := range outcome.Codes() {
		list = append(list, c.Code)
	}
	return words(list...).parse(sc, w)
}
