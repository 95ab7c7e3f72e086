package timing_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/animastor/orchestra/engine/timing"
	"github.com/animastor/orchestra/ports"
)

const ms = time.Millisecond

func at(unit string, start, end time.Duration) ports.UnitTime {
	return ports.UnitTime{Unit: unit, Start: start, End: end}
}

func TestByChunks(t *testing.T) {
	units := []string{"u1", "u2", "u3"}
	for _, c := range []struct {
		name   string
		chunks []timing.Chunk
		want   []ports.UnitTime
	}{
		{"one each", []timing.Chunk{{"u1", 1000 * ms, 900 * ms}, {"u2", 500 * ms, 1 * ms}, {"u3", 700 * ms, 600 * ms}},
			[]ports.UnitTime{at("u1", 0, 1000*ms), at("u2", 1000*ms, 1500*ms), at("u3", 1500*ms, 2100*ms)}},
		{"several of one unit, none of another", []timing.Chunk{{"u1", 1000 * ms, 1}, {"u3", 500 * ms, 1}, {"u3", 700 * ms, 600 * ms}},
			[]ports.UnitTime{at("u1", 0, 1000*ms), at("u2", 1000*ms, 1000*ms), at("u3", 1000*ms, 2100*ms)}},
		{"the last chunk by number is not of the last unit", []timing.Chunk{{"u3", 1000 * ms, 1}, {"u1", 700 * ms, 600 * ms}},
			[]ports.UnitTime{at("u1", 0, 600*ms), at("u2", 600*ms, 600*ms), at("u3", 600*ms, 1600*ms)}},
		{"one was not measured", []timing.Chunk{{"u1", 0, 5}, {"u2", 5, 5}}, nil},
		{"the tail was not measured", []timing.Chunk{{"u1", 5, 5}, {"u2", 5, 0}}, nil},
		{"a negative one", []timing.Chunk{{"u1", -5, 5}, {"u2", 5, 5}}, nil},
		{"of a unit that is gone", []timing.Chunk{{"u9", 5, 5}}, nil},
		{"none", nil, nil},
	} {
		got, ok := timing.ByChunks(units, c.chunks)
		require.Equal(t, c.want != nil, ok, c.name)
		if ok {
			require.Equal(t, c.want, got, c.name)
		}
	}
}

func TestByText(t *testing.T) {
	for _, c := range []struct {
		name  string
		texts []timing.Text
		whole time.Duration
		want  []ports.UnitTime
	}{
		{"by length", []timing.Text{{"u1", 30}, {"u2", 10}}, 4000 * ms, []ports.UnitTime{at("u1", 0, 3000*ms), at("u2", 3000*ms, 4000*ms)}},
		{"without text, equally", []timing.Text{{"u1", 0}, {"u2", 0}}, 4000 * ms, []ports.UnitTime{at("u1", 0, 2000*ms), at("u2", 2000*ms, 4000*ms)}},
		{"a short one has its 200 ms, and the last one the rest", []timing.Text{{"u1", 0}, {"u2", 99}, {"u3", 1}}, 2000 * ms,
			[]ports.UnitTime{at("u1", 0, 200*ms), at("u2", 200*ms, 2000*ms), at("u3", 2000*ms, 2000*ms)}},
		{"less than a second (H-18)", []timing.Text{{"u1", 1}, {"u2", 1}}, 300 * ms, []ports.UnitTime{at("u1", 0, 200*ms), at("u2", 200*ms, 300*ms)}},
		{"none", nil, 1000 * ms, nil},
	} {
		require.Equal(t, c.want, timing.ByText(c.texts, c.whole), c.name)
	}
}

// Whatever the texts are: every unit, in order, without gap or overlap, to the end.
func TestByTextProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		whole := time.Duration(rapid.Int64Range(1, int64(3*time.Hour)).Draw(t, "whole"))
		var texts []timing.Text
		for _, n := range rapid.SliceOfN(rapid.IntRange(-1, 9999), 1, 40).Draw(t, "lengths") {
			texts = append(texts, timing.Text{Unit: "u", Len: n})
		}
		got := timing.ByText(texts, whole)
		require.Len(t, got, len(texts))
		last := time.Duration(0)
		for _, u := range got {
			require.Equal(t, last, u.Start)
			require.GreaterOrEqual(t, u.End, u.Start)
			last = u.End
		}
		require.Equal(t, whole, last)
	})
}
