package keys

import "github.com/animastor/orchestra/ports"

// Key is a Redis key, taken apart. Parts that the family does not have are zero.
type Key struct {
	Family Family
	ports.StageID
	Dispatch   string
	Unit       string // of a job
	Generation int64  // of a job
	Type       string // of a worker: the stage it works for
	Worker     string
}

// String builds the key again.
func (k Key) String() string {
	return fill(string(k.Family), &k)
}

// Parse takes a key apart. The result builds the key again, byte for byte; what
// this package does not build is refused with a *ParseError.
func Parse(key string) (Key, error) {
	for _, f := range families {
		k, ok, problem := match(string(f), key)
		if !ok {
			continue // at most one family has the shape
		}
		if problem != "" {
			return Key{}, &ParseError{"key", key, problem}
		}
		k.Family = f
		return k, nil
	}
	return Key{}, &ParseError{"key", key, "of no family"}
}

// Subject says in short what a key is about, as traces and fault rules write it:
// a stage `b1/c1/s1:image`, a scene `b1/c1/s1`, a book `b1`, a job
// `b1/c1/s1:image/u2`. It is empty for keys about none of them, and for no key.
// It holds no dispatch id: names in a trace are not random.
func Subject(key string) string {
	k, err := Parse(key)
	switch {
	case err != nil || !k.Family.has("b"):
		return ""
	case k.Family.has("unit"):
		return k.StageID.String() + "/" + ports.Quote(k.Unit)
	case k.Family.has("stage"):
		return k.StageID.String()
	case k.Family.has("s"):
		return k.SceneID.String()
	}
	return ports.Quote(k.Book)
}

// parse is match for what is no key.
func parse(what, layout, text string) (Key, error) {
	k, ok, problem := match(layout, text)
	switch {
	case !ok:
		return Key{}, &ParseError{what, text, "not of the form " + layout}
	case problem != "":
		return Key{}, &ParseError{what, text, problem}
	}
	return k, nil
}

// ParseJob is the inverse of Job. The error is a *ParseError.
func ParseJob(id string) (s ports.StageID, unit string, generation int64, err error) {
	k, err := parse("job id", jobLayout, id)
	return k.StageID, k.Unit, k.Generation, err
}

// ParseBookMember is the inverse of BookMember. The error is a *ParseError.
func ParseBookMember(member string) (book string, err error) {
	k, err := parse("member", bookMemberLayout, member)
	return k.Book, err
}

// ParseSceneMember is the inverse of SceneMember. The error is a *ParseError.
func ParseSceneMember(member string) (ports.SceneID, error) {
	k, err := parse("member", sceneMemberLayout, member)
	return k.SceneID, err
}

// ParseBookSceneMember is the inverse of BookSceneMember. The error is a *ParseError.
func ParseBookSceneMember(book, member string) (ports.SceneID, error) {
	k, err := parse("member", bookSceneMemberLayout, member)
	if err == nil {
		k.Book = book
	}
	return k.SceneID, err
}

// ParseBookStageMember is the inverse of BookStageMember. The error is a *ParseError.
func ParseBookStageMember(book, member string) (ports.StageID, error) {
	k, err := parse("member", bookStageMemberLayout, member)
	if err == nil {
		k.Book = book
	}
	return k.StageID, err
}
