package junit

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/runes"
	"golang.org/x/text/transform"
)

var declared = regexp.MustCompile(`^\s*<\?xml[^>]*\sencoding\s*=\s*["']([^"']*)["']`)

// decodeReport returns a report as UTF-8, without the characters that XML does not allow. Tests write such characters, colours of a terminal
// for example, and not every test runner removes them.
func decodeReport(report io.Reader) (io.Reader, error) {
	buffered := bufio.NewReader(report)
	head, _ := buffered.Peek(200) // a short or unreadable report shows itself later
	from, err := encodingOf(head)
	if err != nil {
		return nil, err
	}
	legal := runes.Remove(runes.Predicate(func(r rune) bool { return !isAllowed(r) }))
	text := transform.NewReader(buffered, transform.Chain(unicode.BOMOverride(from.NewDecoder()), legal))
	return &references{from: bufio.NewReader(text)}, nil
}

// encodingOf returns the encoding of a report that begins with head. A byte order mark overrides it.
func encodingOf(head []byte) (encoding.Encoding, error) {
	switch {
	case bytes.HasPrefix(head, []byte("<\x00")):
		return unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM), nil
	case bytes.HasPrefix(head, []byte("\x00<")):
		return unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM), nil
	}
	found := declared.FindSubmatch(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf")))
	if found == nil {
		return unicode.UTF8, nil
	}
	name := strings.ToLower(strings.TrimSpace(string(found[1])))
	if strings.HasPrefix(name, "utf-16") || strings.HasPrefix(name, "ucs-2") { // the declaration can be read, so it is not: .NET declares what its strings are
		return unicode.UTF8, nil
	}
	from, err := htmlindex.Get(strings.Replace(strings.Replace(name, "cp125", "windows-125", 1), "utf_8", "utf-8", 1))
	if err != nil {
		return nil, fmt.Errorf("its encoding %q is not supported; have the tests write UTF-8", name)
	}
	return from, nil
}

// isAllowed reports whether XML 1.0 allows a character: https://www.w3.org/TR/xml/#charsets
func isAllowed(r rune) bool {
	return r == '\t' || r == '\n' || r == '\r' || r >= ' ' && r <= 0xD7FF || r >= 0xE000 && r <= 0xFFFD || r >= 0x10000 && r <= 0x10FFFF
}

// references removes references to characters that XML does not allow: Surefire, for example, writes &#27; for the colours of a terminal.
// It removes XML declarations too: the decoder refuses XML 1.1, and the encoding is UTF-8 by now.
type references struct {
	from *bufio.Reader
}

// longest is the length of the longest reference that is looked at.
const longest = len("&#x0000001b;")

// Read implements io.Reader.
func (f *references) Read(p []byte) (n int, err error) {
	for n < len(p) {
		b, err := f.from.ReadByte()
		if err != nil {
			return n, err
		}
		if b == '&' && f.isIllegal() || b == '<' && f.isDeclaration() {
			continue
		}
		p[n] = b
		n++
	}
	return n, nil
}

// isIllegal reports whether the reference that has begun is to a character that XML does not allow, and consumes it if so.
func (f *references) isIllegal() bool {
	ahead, _ := f.from.Peek(longest - 1)
	digits, _, ended := bytes.Cut(ahead, []byte(";"))
	digits, is := bytes.CutPrefix(digits, []byte("#"))
	if !ended || !is {
		return false
	}
	base := 10
	if hex, isHex := bytes.CutPrefix(digits, []byte("x")); isHex {
		digits, base = hex, 16
	}
	code, err := strconv.ParseUint(string(digits), base, 32)
	if err != nil || isAllowed(rune(code)) {
		return false
	}
	consumed := bytes.IndexByte(ahead, ';') + 1
	_, err = f.from.Discard(consumed)
	return err == nil
}

// longestDeclaration is how many bytes of an XML declaration are looked at.
const longestDeclaration = 200

// isDeclaration reports whether an XML declaration has begun, and consumes it if so.
func (f *references) isDeclaration() bool {
	ahead, _ := f.from.Peek(longestDeclaration)
	end := bytes.Index(ahead, []byte("?>"))
	if end < 0 || !bytes.HasPrefix(ahead, []byte("?xml ")) && !bytes.HasPrefix(ahead, []byte("?xml\t")) && !bytes.HasPrefix(ahead, []byte("?xml\n")) {
		return false
	}
	_, err := f.from.Discard(end + len("?>"))
	return err == nil
}
