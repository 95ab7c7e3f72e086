// Package keys is the one place that builds every Redis key, set member, job id
// and artifact path of the engine (design 5.2, schema 2), and the one place that
// reads them back.
//
// A key is a layout, such as
//
//	animastor:dispatch-lease:{b}:{c}:{s}:{stage}
//
// with each {x} replaced by an encoded component (Encode). The layouts in
// family.go are the schema: builders fill them in, Parse matches them.
//
// Invariants:
//   - Encode is total, injective and invertible, and its output holds none of
//     `: / * ? [ ] \` nor any other separator or glob character.
//   - Hence two different ids never share a key (audit 117 M1; spec runtime KY1 to
//     KY8), no id can reach into a match pattern, and Parse(key).String() == key.
//   - Job ids stand in keys as they are: they are made of encoded components
//     already, and of a fixed number of them.
//
// An id may be any string here, even an empty one; what the engine accepts at its
// door is package asset's business, and so is which stages exist.
//
// Not for: types, values and times to live of keys (package store).
package keys
