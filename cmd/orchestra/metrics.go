package main

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/animastor/orchestra/engine"
	"github.com/animastor/orchestra/engine/metrics"
)

// scrapeAtMost is how long a scrape waits for Redis; the counters come without it.
const scrapeAtMost = 2 * time.Second

// metricsHandler serves what the engine counts (docs/metrics.md), as orchestra_{name},
// counters as orchestra_{name}_total, and what Go knows of the process.
func metricsHandler(r *replica) http.Handler {
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		newCollector(r.engine, r.log))
	return promhttp.HandlerFor(registry, promhttp.HandlerOpts{})
}

// collector is the engine's numbers as Prometheus takes them.
type collector struct {
	engine *engine.Engine
	log    *slog.Logger
	names  map[string]described
}

type described struct {
	metrics.Name
	desc *prometheus.Desc
}

var _ prometheus.Collector = (*collector)(nil)

func newCollector(e *engine.Engine, log *slog.Logger) *collector {
	c := &collector{engine: e, log: log, names: map[string]described{}}
	for _, n := range metrics.Names() {
		var labels []string
		if n.Stage {
			labels = append(labels, "stage")
		}
		if n.Label != "" {
			labels = append(labels, n.Label)
		}
		name := "orchestra_" + n.Name
		if !n.Gauge {
			name += "_total"
		}
		c.names[n.Name] = described{n, prometheus.NewDesc(name, n.Doc, labels, nil)}
	}
	return c
}

// Describe implements prometheus.Collector.
func (c *collector) Describe(ch chan<- *prometheus.Desc) {
	for _, n := range c.names {
		ch <- n.desc
	}
}

// Collect implements prometheus.Collector.
func (c *collector) Collect(ch chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), scrapeAtMost)
	defer cancel()
	samples, err := c.engine.Metrics(ctx)
	if err != nil {
		c.log.Warn("no gauges from Redis", "error", err)
	}
	for _, s := range samples {
		n := c.names[s.Name]
		kind, labels := prometheus.CounterValue, []string(nil)
		if n.Gauge {
			kind = prometheus.GaugeValue
		}
		if n.Stage {
			labels = append(labels, s.Stage)
		}
		if n.Label != "" {
			labels = append(labels, s.Label)
		}
		ch <- prometheus.MustNewConstMetric(n.desc, kind, float64(s.Value), labels...)
	}
}
