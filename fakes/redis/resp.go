package redis

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

const nilBulk = "$-1\r\n"

var errProtocol = errors.New("fakes/redis: not a request in RESP")

// parseRequests splits what a client wrote into commands.
func parseRequests(text string) ([][]string, error) {
	var all [][]string
	for text != "" {
		n, rest, ok := parseLength(text, '*')
		if !ok || n < 1 || n > len(rest) {
			return nil, errProtocol
		}
		args := make([]string, n)
		for i := range args {
			size, body, ok := parseLength(rest, '$')
			if !ok || size < 0 || len(body) < size+2 {
				return nil, errProtocol
			}
			args[i], rest = body[:size], body[size+2:]
		}
		all, text = append(all, args), rest
	}
	return all, nil
}

// parseLength reads a header line: a mark and a number.
func parseLength(text string, mark byte) (n int, rest string, ok bool) {
	if text == "" || text[0] != mark {
		return 0, "", false
	}
	end := strings.IndexByte(text, '\n')
	if end < 2 {
		return 0, "", false
	}
	n, err := strconv.Atoi(text[1 : end-1])
	return n, text[end+1:], err == nil
}

// parseReply reads one reply: a string, an int64, nil, a []any, or an error reply.
func parseReply(text string) (v any, rest string, err error) {
	end := strings.IndexByte(text, '\n')
	if end < 1 {
		return nil, "", errProtocol
	}
	line, rest := text[1:end-1], text[end+1:]
	switch text[0] {
	case '+':
		return line, rest, nil
	case '-':
		return nil, rest, errors.New(line)
	}
	n, err := strconv.ParseInt(line, 10, 64)
	switch {
	case err != nil:
		return nil, "", errProtocol
	case text[0] == ':':
		return n, rest, nil
	case n < 0:
		return nil, rest, nil
	case text[0] == '$' && len(rest) >= int(n)+2:
		return rest[:n], rest[n+2:], nil
	case text[0] != '*':
		return nil, "", errProtocol
	}
	list := make([]any, n)
	for i := range list {
		if list[i], rest, err = parseReply(rest); err != nil {
			return nil, "", err
		}
	}
	return list, rest, nil
}

// sortReply sorts a reply that is a flat list of strings.
func sortReply(reply []byte) []byte {
	v, _, err := parseReply(string(reply))
	list, ok := v.([]any)
	if err != nil || !ok {
		return reply
	}
	texts := make([]string, len(list))
	for i, item := range list {
		texts[i], _ = item.(string)
	}
	slices.Sort(texts)
	return appendStrings(nil, texts)
}

func appendHeader(b []byte, mark byte, n int64) []byte {
	b = strconv.AppendInt(append(b, mark), n, 10)
	return append(b, '\r', '\n')
}

func appendBulk(b []byte, s string) []byte {
	b = append(appendHeader(b, '$', int64(len(s))), s...)
	return append(b, '\r', '\n')
}

func appendStrings(b []byte, list []string) []byte {
	b = appendHeader(b, '*', int64(len(list)))
	for _, s := range list {
		b = appendBulk(b, s)
	}
	return b
}

// appendError writes an error reply: one line, with a code in front.
func appendError(b []byte, text string) []byte {
	text, _, _ = strings.Cut(text, "\n")
	code, _, _ := strings.Cut(text, " ")
	if code == "" || strings.ToUpper(code) != code {
		text = "ERR " + text
	}
	b = append(append(b, '-'), strings.TrimSpace(text)...)
	return append(b, '\r', '\n')
}

// appendReply writes the reply of a twin.
func appendReply(b []byte, v any) []byte {
	switch v := v.(type) {
	case nil:
		return append(b, nilBulk...)
	case string:
		return appendBulk(b, v)
	case []string:
		return appendStrings(b, v)
	case int64:
		return appendHeader(b, ':', v)
	case int:
		return appendHeader(b, ':', int64(v))
	}
	panic(fmt.Sprintf("fakes/redis: a twin replied %T; it may reply []string, string, int64 or nil", v))
}
