package junit

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/runes"
	"golang.org/x/text/transform"
)

var declared = regexp.MustCompile(`^<\?xml[^>]*\sencoding\s*=\s*["']([^"']*)["']`)

// decoded returns a report as UTF-8, without the characters that XML does not allow. Tests write such characters, colours of a terminal
// for example, and not every test runner removes them.
func decoded(report io.Reader) (io.Reader, error) {
	buffered := bufio.NewReader(report)
	head, _ := buffered.Peek(200) // a short or unreadable report shows itself later
	from := unicode.UTF8.NewDecoder()
	if found := declared.FindSubmatch(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf"))); found != nil {
		switch name := strings.ToLower(string(found[1])); name {
		case "utf-8", "utf8", "us-ascii", "ascii":
		case "iso-8859-1", "latin1", "windows-1252", "cp1252":
			from = charmap.Windows1252.NewDecoder() // a superset
		default:
			return nil, fmt.Errorf("its encoding %q is not supported; have the tests write UTF-8", name)
		}
	}
	legal := runes.Remove(runes.Predicate(func(r rune) bool { return !allowed(r) }))
	text := transform.NewReader(buffered, transform.Chain(unicode.BOMOverride(from), legal))
	return &references{from: bufio.NewReader(text)}, nil
}

// allowed reports whether XML 1.0 allows a character: https://www.w3.org/TR/xml/#charsets
func allowed(r rune) bool {
	return r == '\t' || r == '\n' || r == '\r' || r >= ' ' && r <= 0xD7FF || r >= 0xE000 && r <= 0xFFFD || r >= 0x10000 && r <= 0x10FFFF
}

// references removes references to characters that XML does not allow: Surefire, for example, writes &#27; for the colours of a terminal.
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
		if b == '&' && f.illegal() {
			continue
		}
		p[n] = b
		n++
	}
	return n, nil
}

// illegal reports whether the reference that has begun is to a character that XML does not allow, and consumes it if so.
func (f *references) illegal() bool {
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
	if err != nil || allowed(rune(code)) {
		return false
	}
	consumed := bytes.IndexByte(ahead, ';') + 1
	_, err = f.from.Discard(consumed)
	return err == nil
}
