//go:build !amd64

package sim

// Without a prefetch, to wake one of many tasks takes longer, and that is all.

func goroutine() uintptr { return 0 }

func stack() uintptr { return 0 }

func prefetch(*Task) {}
