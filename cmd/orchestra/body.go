package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// read decodes a body into v, or says what is wrong with it.
func read(r *http.Request, v any) (bad answer, ok bool) {
	return decoded(decode(r.Body, v, func(*json.Decoder) {}))
}

// readExactly is read for who must know every field: of an order to delete a book, a field
// that was misspelt may be all that spares the rest of it.
func readExactly(r *http.Request, v any) (bad answer, ok bool) {
	return decoded(decode(r.Body, v, (*json.Decoder).DisallowUnknownFields))
}

func decoded(err error) (bad answer, ok bool) {
	if tooLong := (*http.MaxBytesError)(nil); errors.As(err, &tooLong) {
		return no(http.StatusRequestEntityTooLarge, "too_long", err), false
	}
	if err != nil {
		return no(http.StatusBadRequest, "bad_request", err), false
	}
	return answer{}, true
}

// decode reads a body, which is one JSON text and no more. What is no character would become
// U+FFFD, and the id that has it another one.
func decode(body io.Reader, v any, set func(*json.Decoder)) error {
	text, err := io.ReadAll(body)
	switch {
	case err != nil:
		return err
	case len(bytes.TrimSpace(text)) == 0:
		return errors.New("the body is empty; send a JSON object")
	case !utf8.Valid(text):
		return errors.New("the body is not valid UTF-8")
	case halved(text):
		return errors.New(`the body has half of a surrogate pair, such as \ud800`)
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	set(decoder)
	if err := decoder.Decode(v); err != nil {
		return err
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return errors.New("there is more after the JSON object")
	}
	return nil
}

// halved says whether a JSON text has an escape that is half of a character.
func halved(text []byte) bool {
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' {
			continue
		}
		first := escaped(text[i:])
		switch {
		case !utf16.IsSurrogate(first):
			i++ // past what is escaped, which may be another backslash
		case utf16.DecodeRune(first, escaped(text[i+6:])) == utf8.RuneError:
			return true
		default:
			i += 11
		}
	}
	return false
}

// escaped is the number of an escape \uXXXX at the beginning of a text, or -1.
func escaped(text []byte) rune {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return -1
	}
	n, err := strconv.ParseUint(string(text[2:6]), 16, 16)
	if err != nil {
		return -1
	}
	return rune(n)
}
