package sim

// goroutine is the address of the running task's goroutine.
func goroutine() uintptr

// stack is the address of the end of the running task's stack.
func stack() uintptr

// prefetch fetches the memory that a task needs when it wakes into the cache. With 10,000
// tasks no cache holds it, and a wake-up is a row of misses that wait for each other. The addresses of
// goroutine and stack are hints: nobody reads there, and the stack may have moved since.
func prefetch(t *Task)
