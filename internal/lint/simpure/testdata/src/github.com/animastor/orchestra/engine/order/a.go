package order

import (
	"maps"
	"reflect"
	"slices"
	"sort"
	"strings"
)

var m map[string]int

func draw(k string) string { return k }

func unordered() (out []string) {
	for k, v := range m { // want `range over a map has a random order: sort the keys first`
		println(k, v)
	}
	for k := range m { // want `range over a map`
		out = append(out, k)
	}
	println("between the loop and the sort")
	slices.Sort(out)
	for k := range m { // want `range over a map`
		out = append(out, draw(k))
	}
	slices.Sort(out)
	var other []string
	for k := range m { // want `range over a map`
		other = append(other, k)
	}
	sort.Strings(out)
	for k := range maps.Keys(m) { // want `maps.Keys yields in random order: pass it straight to slices.Sorted`
		println(k)
	}
	_ = slices.Collect(maps.Values(m)) // want `maps.Values yields`
	_ = reflect.ValueOf(m).MapKeys()   // want `reflect.MapKeys: sort the keys first`
	return other
}

func sorted() (out []string) {
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	for k, v := range m {
		if v > len(k) && strings.HasPrefix(k, "a") {
			out = append(out, string(k[0]))
		}
	}
	sort.Slice(out, func(i, j int) bool { return out[i] < out[j] })
	for range m {
		println("once for each")
	}
	for _, k := range slices.Sorted(maps.Keys(m)) {
		println(k)
	}
	for i, s := range out {
		println(i, s)
	}
	return out
}
