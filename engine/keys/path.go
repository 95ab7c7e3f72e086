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

// ArtifactPath is where the artifact of one unit lies in the artifact tree:
//
//	{b}/{c}/{s}/{stage}/{unit}.{extension}    audio mp3, image png, video mp4
//
// with path components for the ids: as Encode writes them, but `.` and `..` become
// %2E and %2E%2E, and a component over 200 bytes becomes its first 100 bytes (fewer
// rather than a part of an escape), `%%` and the SHA-256 of all of it in hexadecimal.
// No component holds `%%` otherwise, so different ids have different paths.
// It panics for an unknown stage, which must have been refused at the door.
func ArtifactPath(s ports.SceneID, stage, unit string) string {
	var extension string
	switch stage {
	case "audio":
		extension = ".mp3"
	case "image":
		extension = ".png"
	case "video":
		extension = ".mp4"
	default:
		panic(fmt.Sprintf("keys: no artifact path of stage %q", stage))
	}
	return pathComponent(s.Book) + "/" + pathComponent(s.Chapter) + "/" + pathComponent(s.Scene) +
		"/" + stage + "/" + pathComponent(unit) + extension
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
