package clock

import (
	crand "crypto/rand"
	"hash/maphash"
	"math/rand"
	randv2 "math/rand/v2"
	"time"
)

var started = time.Now() // want `time.Now: use the Runtime's Now and Sleep`

func clocks(t time.Time) time.Duration {
	time.Sleep(time.Second)             // want `time.Sleep`
	<-time.After(time.Second)           // want `time.After` `channel receive`
	time.AfterFunc(0, func() {})        // want `time.AfterFunc`
	_ = time.NewTimer(0)                // want `time.NewTimer`
	_ = time.NewTicker(0)               // want `time.NewTicker`
	_ = time.Tick(0)                    // want `time.Tick`
	_ = time.Until(t)                   // want `time.Until`
	_ = t.In(time.Local)                // want `time.Local: the machine's time zone differs: use UTC`
	now := time.Now                     // want `time.Now`
	return now().Sub(t) + time.Since(t) // want `time.Since`
}

func chance(b []byte) int {
	crand.Read(b)                        // want `rand.Read: draw from a random stream`
	_ = crand.Reader                     // want `rand.Reader`
	_ = maphash.MakeSeed()               // want `maphash.MakeSeed`
	randv2.Shuffle(1, func(int, int) {}) // want `rand.Shuffle`
	return rand.Intn(3) + randv2.IntN(3) // want `rand.Intn` `rand.IntN`
}

// A stream made from a seed is what the layers should use.
func seeded(seed uint64, t time.Time) int {
	r := randv2.New(randv2.NewPCG(seed, 0))
	return r.IntN(3) + rand.New(rand.NewSource(1)).Intn(3) + t.Add(time.Second).Nanosecond()
}
