// Package simpure is an analyzer for code that must behave the same in every run
// of a seed (design: "scenario text + seed + binary => the same trace").
//
// In the layers named by its -layers flag it reports what could make two runs
// differ: the wall clock and real timers, global randomness, the order of a map,
// goroutines, channels, the waiting types of package sync, contexts that the
// standard library times or ends, recover, the environment, files and sockets.
// Each message says what to use instead. Test files are exempt, and so are the
// adapters to the real world in ports/, which are no layer of the simulation.
//
// A map may be ranged over where the order cannot matter: when the loop names no
// variable, or when it only appends to a slice that the next statement sorts.
//
// Exceptions are written beside the code, on its line or alone on the line above:
//
//	//sim:allow reason       permits anything on that line
//	//sim:unordered reason   permits a loop whose result does not depend on order
//
// A directive without a reason is reported, and so is one that permits nothing.
//
// Not for: following calls. A wall clock behind a helper of another layer is not
// seen; the import rules (internal/house) keep such helpers out of reach, and the
// replay property finds what is left.
package simpure
