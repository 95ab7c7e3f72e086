package directive

import "time"

var m map[string]int

func permitted() (sum int) {
	_ = time.Now() //sim:allow measures this machine for the watchdog
	//sim:allow measures this machine for the watchdog
	_ = time.Now()
	//sim:unordered a sum does not depend on order
	for _, v := range m {
		sum += v
	}
	return sum
}

func refused() {
	_ = time.Now() //sim:allow // want `//sim:allow without a reason: say why it is safe`
	_ = time.Now() // want `time.Now`
	//sim:allow nothing impure follows // want `//sim:allow permits nothing here: remove it`
	println()
	println() //sim:unordered no loop here // want `//sim:unordered permits nothing here`
	//sim:unordered excuses only order // want `//sim:unordered permits nothing here`
	_ = time.Now() // want `time.Now`
	println()      //sim:alow misspelt // want `unknown directive //sim:alow: use //sim:allow or //sim:unordered`
}
