package scenarios

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/animastor/orchestra/engine/asset"
	"github.com/animastor/orchestra/scenarios/lang"
)

// PlanLive says of each program whether it can run live, and what it needs for that. Each that
// can is run in a world first, to see how long it takes: nobody makes real time go faster, so
// what takes longer than longest is left out.
func PlanLive(programs []*lang.Program, longest time.Duration) []LivePlan {
	plans := make([]LivePlan, len(programs))
	var all sync.WaitGroup
	places := make(chan struct{}, runtime.GOMAXPROCS(0))
	for i, p := range programs {
		plans[i] = LivePlan{Program: p, LeftOut: notLive(p), Spec: liveSpec(p)}
		if plans[i].LeftOut != "" {
			continue
		}
		places <- struct{}{}
		all.Go(func() {
			defer func() { <-places }()
			run := RunProgram(p, p.Seeds[0], RunOptions{Keep: 1})
			plans[i].takes = run.Virtual - run.Rested
			if plans[i].takes > longest {
				plans[i].LeftOut = fmt.Sprintf("it takes %s, more than %s", round(plans[i].takes), longest)
			}
		})
	}
	all.Wait()
	return plans
}

// liveSpec is what stands above the first `run`.
func liveSpec(p *lang.Program) LiveSpec {
	spec := LiveSpec{Name: p.File.Name, Slots: map[string]int{}}
	said, counted := 0, false
	for i := range p.Steps {
		s := &p.Steps[i]
		switch s.Verb.Name {
		case "engines":
			said = int(s.Args.Count("count"))
		case "expect":
			counted = counted || s.Expect.Metric.Name == "passes"
		case "config":
			for _, setting := range s.Args.Given() {
				switch stage, isSlots := strings.CutPrefix(setting, "slots."); {
				case isSlots && asset.ValidStage(stage):
					spec.Slots[stage] = int(s.Args.Count(setting))
				case setting == "tick":
					spec.Tick = s.Args.Duration(setting)
				case setting == "versioned":
					spec.Versioned = s.Args.YesNo(setting)
				case setting == "window":
					spec.Window = int(s.Args.Count(setting))
				}
			}
		}
	}
	switch {
	case said > 0:
		spec.Engines = said
	case counted: // each replica makes passes of its own
		spec.Engines = 1
	default:
		spec.Engines = liveEngines
	}
	return spec
}
