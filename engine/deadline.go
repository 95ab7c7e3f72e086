package engine

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/animastor/orchestra/ports"
)

// callAtMost is the time of one call to Redis, to the content or to the artifact
// tree: one that hangs must not hold a tick or a live dispatch for good. (The hub's
// client has a deadline of its own.)
const callAtMost = 10 * time.Second

// mergeAtMost is the time of one merge. It stays below the time of a claim (60 s), so
// that nobody else begins the same; one that takes longer may go on, and is found done by
// the next look.
const mergeAtMost = 45 * time.Second

// deadlines gives every call a deadline that has none.
type deadlines struct {
	ports.Runtime
	content   ports.Content
	artifacts ports.Artifacts
	media     ports.Media
}

var (
	_ redis.Hook      = deadlines{}
	_ ports.Content   = deadlines{}
	_ ports.Artifacts = deadlines{}
	_ ports.Media     = deadlines{}
)

func (d deadlines) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	if _, has := ctx.Deadline(); has {
		return ctx, func() {}
	}
	return d.WithTimeout(ctx, callAtMost)
}

// DialHook implements redis.Hook.
func (d deadlines) DialHook(next redis.DialHook) redis.DialHook { return next }

// ProcessHook implements redis.Hook.
func (d deadlines) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		ctx, cancel := d.bounded(ctx)
		defer cancel()
		return next(ctx, cmd)
	}
}

// ProcessPipelineHook implements redis.Hook.
func (d deadlines) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		ctx, cancel := d.bounded(ctx)
		defer cancel()
		return next(ctx, cmds)
	}
}

// Scene implements ports.Content.
func (d deadlines) Scene(ctx context.Context, id ports.SceneID) (ports.Scene, error) {
	ctx, cancel := d.bounded(ctx)
	defer cancel()
	return d.content.Scene(ctx, id)
}

// Scenes implements ports.Content.
func (d deadlines) Scenes(ctx context.Context, book, chapter string) ([]ports.SceneID, error) {
	ctx, cancel := d.bounded(ctx)
	defer cancel()
	return d.content.Scenes(ctx, book, chapter)
}

// Stat implements ports.Artifacts.
func (d deadlines) Stat(ctx context.Context, path string) (ports.Artifact, ports.Presence, error) {
	ctx, cancel := d.bounded(ctx)
	defer cancel()
	return d.artifacts.Stat(ctx, path)
}

// Merge implements ports.Media.
func (d deadlines) Merge(ctx context.Context, m ports.Merge) error {
	ctx, cancel := d.WithTimeout(ctx, mergeAtMost)
	defer cancel()
	return d.media.Merge(ctx, m)
}
