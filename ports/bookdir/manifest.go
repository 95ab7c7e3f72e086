package bookdir

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/animastor/orchestra/ports"
)

type manifest struct {
	ID        string  `json:"id"`
	Workspace string  `json:"workspace"`
	Scenes    []scene `json:"scenes"`
}

type scene struct {
	Chapter  string   `json:"chapter"`
	Scene    string   `json:"scene"`
	Version  int64    `json:"version"`
	Layers   []string `json:"layers"`
	Segments segments `json:"segments"`
	Units    []unit   `json:"units"`
	Groups   []group  `json:"groups"`
}

var _ json.Unmarshaler = (*scene)(nil)

// UnmarshalJSON implements json.Unmarshaler. Its errors name the scene.
func (s *scene) UnmarshalJSON(text []byte) error {
	type object scene
	if err := exactly(text, (*object)(s)); err != nil {
		return fmt.Errorf("scene %s/%s: %w", ports.Quote(s.Chapter), ports.Quote(s.Scene), err)
	}
	return nil
}

type group struct {
	ID    string   `json:"id"`
	Units []string `json:"units"`
}

// unit is a picture: in a manifest an id, or an object that says more.
type unit struct {
	ID         string `json:"id"`
	Version    int64  `json:"version,omitempty"`    // of the content that changed it last; 0: it never was
	Characters int    `json:"characters,omitempty"` // of its text
}

var (
	_ json.Unmarshaler = (*unit)(nil)
	_ json.Marshaler   = unit{}
)

// UnmarshalJSON implements json.Unmarshaler.
func (u *unit) UnmarshalJSON(text []byte) error {
	if text[0] == '"' {
		return json.Unmarshal(text, &u.ID)
	}
	type object unit
	return exactly(text, (*object)(u))
}

// MarshalJSON implements json.Marshaler.
func (u unit) MarshalJSON() ([]byte, error) {
	if u == (unit{ID: u.ID}) {
		return json.Marshal(u.ID)
	}
	type object unit
	return json.Marshal(object(u))
}

// segment is a piece of the text that is read aloud.
type segment struct {
	Unit    string `json:"unit,omitempty"` // whose text it reads
	Version int64  `json:"version,omitempty"`
}

// segments are, in a manifest, how many there are, or a list that says more.
type segments []segment

var (
	_ json.Unmarshaler = (*segments)(nil)
	_ json.Marshaler   = segments(nil)
)

// UnmarshalJSON implements json.Unmarshaler.
func (s *segments) UnmarshalJSON(text []byte) error {
	if text[0] == '[' {
		return exactly(text, (*[]segment)(s))
	}
	var n int
	if err := json.Unmarshal(text, &n); err != nil {
		return err
	}
	switch {
	case n < 0:
		return fmt.Errorf("it has %d segments, fewer than 0", n)
	case n > segmentsMax:
		return fmt.Errorf("it has %d segments; %d is the most", n, segmentsMax)
	}
	*s = make(segments, n)
	return nil
}

// segmentsMax is more than any scene has: a slip of the pen must not fill the memory.
const segmentsMax = 100_000

// MarshalJSON implements json.Marshaler.
func (s segments) MarshalJSON() ([]byte, error) {
	if slices.ContainsFunc(s, func(x segment) bool { return x != segment{} }) {
		return json.Marshal([]segment(s))
	}
	return json.Marshal(len(s))
}

// exactly decodes an object none of whose fields may be unknown: what decodes the manifest
// does not look into what decodes itself.
func exactly(text []byte, v any) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	return decoder.Decode(v)
}

// Manifest is the text of a manifest that reads as these scenes, which are of one book and
// none less than all of it.
func Manifest(scenes []ports.Scene) ([]byte, error) {
	m := manifest{}
	for _, s := range scenes {
		m.ID, m.Workspace = s.Book, s.Workspace
		out := scene{Chapter: s.Chapter, Scene: s.Scene, Version: s.Version, Layers: slices.Sorted(maps.Keys(s.Layers))}
		for _, u := range s.Segments {
			out.Segments = append(out.Segments, segment{u.Unit, u.Version})
		}
		for _, u := range s.Units {
			out.Units = append(out.Units, unit{u.ID, u.Version, u.TextLen})
		}
		for _, g := range s.Groups {
			out.Groups = append(out.Groups, group(g))
		}
		m.Scenes = append(m.Scenes, out)
	}
	return json.MarshalIndent(m, "", "  ")
}

// wrong says what is wrong with a manifest, or "".
func (d *Dir) wrong(m manifest, book string) string {
	if m.ID != book {
		return fmt.Sprintf("its id is %q, and its name says %q", m.ID, book)
	}
	seen := map[ports.SceneID]bool{}
	for _, s := range m.Scenes {
		id := ports.SceneID{Book: book, Chapter: s.Chapter, Scene: s.Scene}
		switch {
		case s.Chapter == "" || s.Scene == "":
			return "a scene lacks chapter or scene"
		case seen[id]:
			return "scene " + id.String() + " stands twice"
		case s.Version < 1:
			return "scene " + id.String() + " has no version; write 1 for the first"
		}
		seen[id] = true
		if why := d.wrongParts(s); why != "" {
			return "scene " + id.String() + ": " + why
		}
	}
	return ""
}

func (d *Dir) wrongParts(s scene) string {
	for _, layer := range s.Layers {
		if !slices.Contains(d.o.Stages, layer) {
			return fmt.Sprintf("there is no layer %q, only %v", layer, d.o.Stages)
		}
	}
	var units, groups []string
	for _, u := range s.Units {
		units = append(units, u.ID)
		if u.Version < 0 || u.Version > s.Version || u.Characters < 0 {
			return fmt.Sprintf("unit %q: a version of 0 to that of the scene, and 0 or more characters", u.ID)
		}
	}
	if id, twice := repeated(units); twice {
		return fmt.Sprintf("unit %q is empty or stands twice", id)
	}
	for i, x := range s.Segments {
		if x.Unit != "" && !slices.Contains(units, x.Unit) {
			return fmt.Sprintf("segment %d reads unit %q, which the scene has not", i+1, x.Unit)
		}
		if x.Version < 0 || x.Version > s.Version {
			return fmt.Sprintf("segment %d: a version of 0 to that of the scene", i+1)
		}
	}
	for _, g := range s.Groups {
		groups = append(groups, g.ID)
		for _, u := range g.Units {
			if !slices.Contains(units, u) {
				return fmt.Sprintf("group %q has unit %q, which the scene has not", g.ID, u)
			}
		}
	}
	if id, twice := repeated(groups); twice {
		return fmt.Sprintf("group %q is empty or stands twice", id)
	}
	return ""
}

// repeated finds an id that is empty or not the first of its name.
func repeated(ids []string) (string, bool) {
	seen := map[string]bool{"": true}
	for _, id := range ids {
		if seen[id] {
			return id, true
		}
		seen[id] = true
	}
	return "", false
}
