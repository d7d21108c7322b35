package hooks

import "bytes"

// maxDepth is how deeply values may be nested, as in encoding/json.
const maxDepth = 10_000

// scanner walks over JSON text from its place on and validates it. It accepts exactly what json.Valid accepts (FuzzKnown compares them);
// one walk that knows what it may skip takes a fraction of the time. Methods return false if the text is not valid.
type scanner struct {
	body []byte
	at   int
}

// peek returns the next character; 0: the text is over. A NUL is valid nowhere outside a string.
func (s *scanner) peek() byte {
	if s.at < len(s.body) {
		return s.body[s.at]
	}
	return 0
}

// skipSpace walks over white space and returns the next character.
func (s *scanner) skipSpace() byte {
	for s.at < len(s.body) {
		switch c := s.body[s.at]; c {
		case ' ', '\n', '\t', '\r':
			s.at++
		default:
			return c
		}
	}
	return 0
}

func (s *scanner) nextIs(c byte) bool {
	if s.peek() == c {
		s.at++
		return true
	}
	return false
}

// skipValue walks over a value of which nothing is read.
func (s *scanner) skipValue(depth int) bool {
	switch s.skipSpace() {
	case '{':
		return s.skipMembers(depth, '}', func() bool { return s.skipName() && s.skipValue(depth+1) })
	case '[':
		return s.skipMembers(depth, ']', func() bool { return s.skipValue(depth + 1) })
	}
	return s.skipScalar()
}

// skipMembers walks over an object or a list, by member.
func (s *scanner) skipMembers(depth int, end byte, skipMember func() bool) bool {
	s.at++
	if depth >= maxDepth {
		return false
	}
	if s.skipSpace() == end {
		s.at++
		return true
	}
	for skipMember() {
		s.skipSpace()
		if s.nextIs(end) {
			return true
		}
		if !s.nextIs(',') {
			return false
		}
	}
	return false
}

// skipName walks over a name and the colon behind it.
func (s *scanner) skipName() bool {
	if s.skipSpace() != '"' {
		return false
	}
	if !s.skipString() {
		return false
	}
	s.skipSpace()
	return s.nextIs(':')
}

// skipScalar walks over a string, a number, true, false or null.
func (s *scanner) skipScalar() bool {
	switch s.peek() {
	case '"':
		return s.skipString()
	case 't':
		return s.skipWord("true")
	case 'f':
		return s.skipWord("false")
	case 'n':
		return s.skipWord("null")
	}
	return s.skipNumber()
}

func (s *scanner) skipWord(word string) bool {
	end := s.at + len(word)
	if end > len(s.body) || string(s.body[s.at:end]) != word {
		return false
	}
	s.at = end
	return true
}

// https://www.rfc-editor.org/rfc/rfc8259#section-6
func (s *scanner) skipNumber() bool {
	s.nextIs('-')
	if !s.nextIs('0') && !s.skipDigits() {
		return false
	}
	if s.nextIs('.') && !s.skipDigits() {
		return false
	}
	if s.nextIs('e') || s.nextIs('E') {
		_ = s.nextIs('+') || s.nextIs('-')
		return s.skipDigits()
	}
	return true
}

// skipDigits walks over one or more digits.
func (s *scanner) skipDigits() bool {
	begin := s.at
	for '0' <= s.peek() && s.peek() <= '9' {
		s.at++
	}
	return s.at > begin
}

// skipString walks over a string with its quotes. Bytes that are no UTF-8 are valid, as in encoding/json.
func (s *scanner) skipString() bool {
	body := s.body
	for i := s.at + 1; i < len(body); i++ {
		switch c := body[i]; {
		case c == '"':
			s.at = i + 1
			return true
		case c == '\\':
			more := escapeLength(body[i+1:])
			if more == 0 {
				return false
			}
			i += more
		case c < ' ':
			return false
		}
	}
	return false
}

// escapeLength returns how many characters behind a backslash belong to it; 0: it is no escape.
func escapeLength(rest []byte) int {
	switch {
	case len(rest) == 0:
		return 0
	case bytes.IndexByte([]byte(`"\\/bfnrt`), rest[0]) >= 0:
		return 1
	case rest[0] != 'u' || len(rest) < 5:
		return 0
	}
	for _, c := range rest[1:5] {
		if !('0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F') {
			return 0
		}
	}
	return 5
}
