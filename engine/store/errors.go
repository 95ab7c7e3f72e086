package store

import (
	"errors"
	"fmt"
	"strings"

	"github.com/redis/go-redis/v9"
)

// ErrAmbiguous says that no answer came: the script may have run or not. The same call
// may be made again.
var ErrAmbiguous = errors.New("the answer was lost, it may have been done; ask again")

// CorruptError says that a key holds a value of the wrong type. Nothing was changed;
// all that uses the key is stuck until an operator repairs or deletes it.
type CorruptError struct {
	Key string
	Err error // what Redis said
}

func (e *CorruptError) Error() string {
	return fmt.Sprintf("corrupt key %s: %v; repair or delete it", e.Key, e.Err)
}

func (e *CorruptError) Unwrap() error { return e.Err }

// failed makes the error of a call that may have written.
func failed(op, subject string, err error) error {
	switch {
	case isAnswer(err):
		return fmt.Errorf("store: %s %s: %w", op, subject, corrupt(err))
	case isUnsent(err):
		return fmt.Errorf("store: %s %s: %w", op, subject, err)
	}
	return fmt.Errorf("store: %s %s: %w: %w", op, subject, ErrAmbiguous, err)
}

// unread makes the error of a read. key is what it read, if that was one key.
func unread(op, subject, key string, err error) error {
	if isWrongType(err) {
		err = &CorruptError{key, err}
	}
	return fmt.Errorf("store: %s %s: %w", op, subject, err)
}

// corrupt finds out whether err is the answer of the prelude's function corrupt.
func corrupt(err error) error {
	if words := strings.SplitN(err.Error(), " ", 3); words[0] == "CORRUPT" && len(words) == 3 {
		return &CorruptError{Key: words[1], Err: err}
	}
	return err
}

// isAnswer says whether Redis itself sent the error: then the call did nothing.
func isAnswer(err error) bool {
	var answer redis.Error
	return errors.As(err, &answer)
}

// isUnsent says whether the request never left. There is no type for a refused
// connection that package engine may know, so its text has to do; an error that is
// taken for ambiguous by mistake costs one more question.
func isUnsent(err error) bool {
	return errors.Is(err, redis.ErrClosed) || errors.Is(err, redis.ErrPoolTimeout) ||
		strings.Contains(err.Error(), "connection refused")
}

func isWrongType(err error) bool {
	return isAnswer(err) && strings.HasPrefix(err.Error(), "WRONGTYPE")
}
