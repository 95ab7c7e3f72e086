package lang

import (
	"bytes"
	_ "embed"
	"fmt"
	"strings"
	"text/template"
)

//go:generate go test . -run TestManualIsFresh -update

//go:embed manual.md.tmpl
var manualText string

//go:embed help.txt.tmpl
var helpText string

var templates = template.Must(template.New("manual").Funcs(template.FuncMap{
	"cell":   func(s string) string { return strings.ReplaceAll(s, "|", `\|`) },
	"indent": func(s string) string { return "  " + strings.ReplaceAll(s, "\n", "\n  ") },
	"list":   func(s []string) string { return strings.Join(s, ", ") },
	"pad":    func(width int, s string) string { return fmt.Sprintf("%-*s ", width-1, s) },
	"plain":  func(s string) string { return strings.ReplaceAll(s, "`", "") },
}).Parse(manualText + helpText))

// view is what the templates see.
type view struct {
	Verbs   []*Verb
	Effects []*FaultEffect
	Metrics []*Metric
	Types   []Type
	Verb    *Verb
	Metric  *Metric
}

// documented are the types that need more than their name, in the order of the manual.
func documented() []Type {
	return []Type{
		typeDuration, typeDurationRange, typeOffset, typeCount, typeCountRange, typePercent, typeText, typeID,
		names("c", 1, 1000), anyPath, typeGlob, typeProcess, typeCode, typeSeeds, typeStages,
	}
}

func render(name string, v view) []byte {
	v.Verbs, v.Effects, v.Metrics, v.Types = Verbs(), Effects(), Metrics(), documented()
	var b bytes.Buffer
	if err := templates.ExecuteTemplate(&b, name, v); err != nil {
		panic("lang: " + err.Error())
	}
	return b.Bytes()
}

// Manual is the text of docs/scenarios.md.
func Manual() []byte { return render("manual", view{}) }

// Help is the help for one verb or metric, or a list of all for an empty topic.
func Help(topic string) (string, error) {
	verb, metric := VerbNamed(topic), MetricNamed(topic)
	switch {
	case topic == "":
		return string(render("topics", view{})), nil
	case verb != nil:
		return string(render("verb", view{Verb: verb})), nil
	case metric != nil:
		return string(render("metric", view{Metric: metric})), nil
	}
	all := append(verbNames(), metricNames()...)
	return "", fmt.Errorf("no verb or metric %s (%s)", topic, suggestOr(topic, all, "sim help lists them"))
}

// Takes says where the verb may stand, for help and manual.
func (v *Verb) Takes() string {
	once := ""
	if v.Once {
		once = ", once"
	}
	return [...]string{
		Setup:  "Before the first `run` or `settle`" + once + ".",
		Action: "May follow `at D` or `every D [until D]`.",
		Flow:   "Done at its place in the file.",
	}[v.Phase]
}

// Args are operands and keys that have something to say about themselves.
func (v *Verb) Args() []Param {
	var list []Param
	for _, p := range v.Params {
		if p.Doc != "" {
			list = append(list, p)
		}
	}
	return append(list, v.Keys...)
}

// SubjectName is the subject as usage lines write it.
func (m *Metric) SubjectName() string { return m.Subject.bracket(m.Subject.Type.Name) }

// Values are what the metric can be compared with.
func (m *Metric) Values() string {
	switch {
	case m.Kind == KindWord:
		return strings.Join(m.Words, ", ")
	case len(m.Words) > 0:
		return m.Kind.String() + ", " + strings.Join(m.Words, ", ")
	}
	return m.Kind.String()
}

// On is the service of the effect, or "any".
func (e *FaultEffect) On() string {
	if e.Service == "" {
		return "any"
	}
	return e.Service
}
