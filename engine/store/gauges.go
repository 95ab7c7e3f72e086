package store

import (
	"context"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/animastor/orchestra/engine/keys"
)

// Gauges is how full Redis is of the engine's work.
type Gauges struct {
	Active int64        // scenes in the index
	Outbox int64        // lines that no journal has yet
	Purges int64        // ended dispatches whose jobs may still be at the hub
	Stages []StageGauge // in the order asked for

	UndeliveredScenes int64 // scenes with result events that the consumer has not taken
	Undelivered       int64 // those events
}

// StageGauge is what belongs to a kind of stage.
type StageGauge struct {
	Stage    string
	Used     int       // slots whose holders' time is not over
	OpenedAt time.Time // of the circuit; zero: it is closed
	Held     bool      // an operator holds it open
	Now      time.Time // by Redis' clock, which OpenedAt was written by
}

// Gauges reads all gauges, in one round trip if no result event waits. A key that cannot be read is an error, and
// nothing of the rest is told.
func (s *Store) Gauges(ctx context.Context, stages []string) (g Gauges, err error) {
	var now *redis.TimeCmd
	var active, outbox, purges *redis.IntCmd
	var undelivered *redis.StringSliceCmd
	slots, circuits := make([]*redis.ZSliceCmd, len(stages)), make([]*redis.MapStringStringCmd, len(stages))
	_, err = s.client.Pipelined(ctx, func(p redis.Pipeliner) error {
		now = p.Time(ctx)
		active = p.SCard(ctx, keys.ActiveScenes())
		outbox = p.LLen(ctx, keys.Outbox())
		purges = p.ZCard(ctx, keys.Purges())
		undelivered = p.ZRange(ctx, keys.Undelivered(), 0, -1)
		for i, stage := range stages {
			slots[i] = p.ZRangeWithScores(ctx, keys.Slots(stage), 0, -1)
			circuits[i] = p.HGetAll(ctx, keys.Breaker(stage))
		}
		return nil
	})
	if err != nil {
		return Gauges{}, unread("read", "gauges", "", err)
	}
	g = Gauges{Active: active.Val(), Outbox: outbox.Val(), Purges: purges.Val()}
	for i, stage := range stages {
		one := StageGauge{Stage: stage, Now: now.Val(), OpenedAt: instant(circuits[i].Val()["opened_at"]), Held: circuits[i].Val()["hold"] == "open"}
		for _, holder := range slots[i].Val() {
			if holder.Score > float64(now.Val().UnixMilli()) {
				one.Used++
			}
		}
		g.Stages = append(g.Stages, one)
	}
	g.UndeliveredScenes = int64(len(undelivered.Val()))
	g.Undelivered, err = s.undelivered(ctx, undelivered.Val())
	return g, err
}

// undelivered counts the events that wait in the queues of scenes.
func (s *Store) undelivered(ctx context.Context, members []string) (n int64, err error) {
	for some := range slices.Chunk(members, scenesPerRead) {
		var lengths []*redis.IntCmd
		_, err := s.client.Pipelined(ctx, func(p redis.Pipeliner) error {
			for _, member := range some {
				if scene, err := keys.ParseSceneMember(member); err == nil {
					lengths = append(lengths, p.LLen(ctx, keys.Events(scene)))
				}
			}
			return nil
		})
		if err != nil {
			return 0, unread("count", "result events", "", err)
		}
		for _, length := range lengths {
			n += length.Val()
		}
	}
	return n, nil
}
