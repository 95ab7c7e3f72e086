#include "go_asm.h"
#include "textflag.h"

// A prefetch of an address that is none does nothing. What is read here is the task and
// the closure of its resume, which are held by whoever calls.

// func prefetch(t *Task)
TEXT ·prefetch(SB), NOSPLIT|NOFRAME, $0-8
	MOVQ t+0(FP), AX
	TESTQ AX, AX
	JEQ done
	MOVQ Task_goroutine(AX), BX
	MOVQ Task_stack(AX), CX
	MOVQ Task_resume(AX), AX
	PREFETCHT0 0(BX) // what coroswitch reads and writes of the goroutine
	PREFETCHT0 64(BX)
	PREFETCHT0 128(BX)
	PREFETCHT0 192(BX)
	PREFETCHT0 384(BX)
	PREFETCHT0 448(BX)
	PREFETCHT0 -256(CX) // the frames that the task returns through, and calls anew
	PREFETCHT0 -192(CX)
	PREFETCHT0 -128(CX)
	PREFETCHT0 -64(CX)
	PREFETCHT0 0(CX)
	PREFETCHT0 64(CX)
	PREFETCHT0 128(CX)
	PREFETCHT0 192(CX)
	MOVQ 8(AX), DX // what resume has captured: its state and the coroutine
	MOVQ 16(AX), SI
	PREFETCHT0 0(DX)
	PREFETCHT0 0(SI)
done:
	RET

// func goroutine() uintptr
TEXT ·goroutine(SB), NOSPLIT|NOFRAME, $0-8
	MOVQ (TLS), AX
	MOVQ AX, ret+0(FP)
	RET

// func stack() uintptr
TEXT ·stack(SB), NOSPLIT|NOFRAME, $0-8
	MOVQ SP, ret+0(FP)
	RET
