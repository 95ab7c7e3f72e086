package properties

import "time"

func now() time.Time { return time.Now() } // want `time.Now`
