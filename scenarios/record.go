package scenarios

import (
	"strconv"

	"github.com/animastor/orchestra/scenarios/syntax"
)

// record writes the run as a scenario in which every fault that fired is named by
// its call, and no other is: it keeps every decision whose call still comes.
func (r *run) record() []byte {
	f := &syntax.File{Name: r.prog.File.Name}
	for _, line := range r.prog.File.Lines {
		if s := line.Stmt; s != nil {
			switch s.Verb.Raw {
			case "fault":
				f.Lines = append(f.Lines, syntax.Line{Comment: "# " + s.String()})
				continue
			case "scenario":
				line.Stmt = withSeed(s, r.res.Seed)
				f.Lines = append(f.Lines, line)
				f.Lines = append(f.Lines, r.recorded()...)
				continue
			case "replay":
				continue
			}
		}
		f.Lines = append(f.Lines, line)
	}
	return syntax.Format(f)
}

// recorded are the statements that stand for the faults.
func (r *run) recorded() []syntax.Line {
	lines := []syntax.Line{{}, statement("replay", operand("strict"))}
	for _, fx := range r.w.Sim.Fired() {
		args := []syntax.Arg{key("call", strconv.Quote(fx.Call.String())), operand(fx.Effect)}
		if fx.Delay > 0 {
			args = append(args, key("delay", fx.Delay.String()))
		}
		if fx.After {
			args = append(args, key("when", "after"))
		}
		if fx.Param != "" {
			args = append(args, key(r.faults[fx.Rule].Effect.Param, syntax.Quote(fx.Param).Raw))
		}
		lines = append(lines, statement("fault", args...))
	}
	return lines
}

func statement(verb string, args ...syntax.Arg) syntax.Line {
	return syntax.Line{Stmt: &syntax.Statement{Verb: syntax.Word{Raw: verb}, Args: args}}
}

func operand(raw string) syntax.Arg { return syntax.Arg{Gap: 1, Value: syntax.Word{Raw: raw}} }

func key(name, raw string) syntax.Arg {
	return syntax.Arg{Gap: 1, Key: syntax.Word{Raw: name}, Value: syntax.Word{Raw: raw}}
}

// withSeed is the scenario line with one seed.
func withSeed(s *syntax.Statement, seed uint64) *syntax.Statement {
	c := *s
	c.Args = nil
	for _, a := range s.Args {
		if a.Key.Raw != "seed" {
			c.Args = append(c.Args, a)
		}
	}
	c.Args = append(c.Args, key("seed", strconv.FormatUint(seed, 10)))
	return &c
}
