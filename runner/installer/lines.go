package installer

import (
	"bytes"
	"fmt"
	"io"
	"strings"
)

// Lines is a writer that redacts a stream line by line. A secret is found wherever the chunks it arrives in are cut,
// because nothing is let out before its line is whole. It belongs to one goroutine.
type Lines struct {
	redact   *Redactor
	emit     func(line string)
	partial  []byte
	dropping int // bytes of an overlong line thrown away so far
	block    int // lines of a PEM block still to be withheld; 0: outside
}

var _ io.WriteCloser = (*Lines)(nil)

// Lines returns a writer that hands each redacted line, without its newline, to emit.
func (r *Redactor) Lines(emit func(line string)) *Lines { return &Lines{redact: r, emit: emit} }

// Write takes a chunk. It never fails.
func (l *Lines) Write(chunk []byte) (int, error) {
	size := len(chunk)
	for {
		head, rest, found := bytes.Cut(chunk, []byte{'\n'})
		l.take(head)
		if !found {
			return size, nil
		}
		l.finish()
		chunk = rest
	}
}

// Close lets out a last line that had no newline.
func (l *Lines) Close() error {
	if len(l.partial) > 0 || l.dropping > 0 {
		l.finish()
	}
	return nil
}

func (l *Lines) take(part []byte) {
	if l.dropping > 0 || len(l.partial)+len(part) > longestLine {
		l.dropping += len(l.partial) + len(part)
		l.partial = l.partial[:0]
		return
	}
	l.partial = append(l.partial, part...)
}

func (l *Lines) finish() {
	line := printable(string(bytes.TrimRight(l.partial, "\r")))
	dropped := l.dropping
	l.partial, l.dropping = l.partial[:0], 0
	switch {
	case dropped > 0:
		l.emit(fmt.Sprintf("[a line of %d bytes withheld]", dropped))
	case l.block > 0:
		l.insideBlock(line)
	default:
		line = l.redact.line(line)
		if blockBegins.maybe(strings.ToLower(line)) && blockBegins.MatchString(line) {
			line, l.block = blockBegins.ReplaceAllString(line, mark), longestBlock
		}
		l.emit(line)
	}
}

// printable leaves out control characters: a NUL in a line would keep PostgreSQL from ever storing its report, and with
// it the lease from being renewed.
func printable(line string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\t' || r == 0x7f {
			return -1
		}
		return r
	}, line)
}

// insideBlock withholds the lines of a PEM block and lets out what follows its end.
func (l *Lines) insideBlock(line string) {
	l.block--
	if end := blockEnds.FindStringIndex(line); end != nil {
		l.block = 0
		if rest := line[end[1]:]; rest != "" {
			l.emit(mark + l.redact.line(rest))
		}
	}
}
