package keys

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/animastor/orchestra/ports"
)

const (
	pathComponentBytesMax = 200 // with an extension still under the 255 bytes of a file name
	pathPrefixBytes       = 100 // what stays readable of a longer one
)

// ChunkID is the unit id of the n-th segment of a scene, from 1: four digits, more
// from 10,000 on.
func ChunkID(n int) string { return fmt.Sprintf("%04d", n) }

// ArtifactPath is where the artifact of one unit lies in the artifact tree; ScenePath is
// where the one file lies that audio and video make of their parts:
//
//	{b}/{c}/{s}/image/{unit}.png     an image unit
//	{b}/{c}/{s}/image/{unit}@{N}.png the same of generation N, where pictures are published (VersionPath)
//	{b}/{c}/{s}/audio/{NNNN}.mp3     a chunk, by the number of its segment (ChunkID)
//	{b}/{c}/{s}/video/{group}.mp4    a video group
//	{b}/{c}/{s}/audio.mp3            the scene's audio, or its placeholder
//	{b}/{c}/{s}/video.mp4            the scene's video
//
// with path components for the ids: as Encode writes them, but `.` and `..` become
// %2E and %2E%2E, and a component over 200 bytes becomes its first 100 bytes (fewer
// rather than a part of an escape), `%%` and the SHA-256 of all of it in hexadecimal.
// No component holds `%%` otherwise, so different ids have different paths.
// It panics for an unknown stage, which must have been refused at the door.
func ArtifactPath(s ports.SceneID, stage, unit string) string {
	return scenePath(s) + "/" + stage + "/" + pathComponent(unit) + extension(stage)
}

// VersionPath is where the picture of an image unit lies that one generation made. A
// pointer says which of them is the unit's (ports.Pointer); no id holds a bare `@`.
func VersionPath(s ports.SceneID, unit string, generation int64) string {
	return fmt.Sprintf("%s/image/%s@%d%s", scenePath(s), pathComponent(unit), generation, extension("image"))
}

// ScenePath is where the whole of a stage lies, made of its parts (see ArtifactPath).
func ScenePath(s ports.SceneID, stage string) string {
	return scenePath(s) + "/" + stage + extension(stage)
}

func scenePath(s ports.SceneID) string {
	return pathComponent(s.Book) + "/" + pathComponent(s.Chapter) + "/" + pathComponent(s.Scene)
}

func extension(stage string) string {
	switch stage {
	case "audio":
		return ".mp3"
	case "image":
		return ".png"
	case "video":
		return ".mp4"
	}
	panic(fmt.Sprintf("keys: no artifact path of stage %q", stage))
}

func pathComponent(id string) string {
	switch id {
	case ".":
		return "%2E"
	case "..":
		return "%2E%2E"
	}
	c := Encode(id)
	if len(c) <= pathComponentBytesMax {
		return c
	}
	sum := sha256.Sum256([]byte(c))
	end := pathPrefixBytes
	if i := strings.LastIndexByte(c[:end], '%'); i > end-3 { // its escape would be cut
		end = i
	}
	return c[:end] + "%%" + hex.EncodeToString(sum[:])
}
