// Package ports has the adapters to the real world, which are exempt.
package ports

import "time"

func now() time.Time { return time.Now() }
