package installer

import (
	"bytes"
	"fmt"
	"io"
	"strings"
)

// Lines is a writer that redacts a stream line by line. It finds a secret wherever the chunks are split, because it emits only
// complete lines. It belongs to one goroutine.
type Lines struct {
	redact   *Redactor
	emit     func(line string)
	partial  []byte
	dropping int // bytes of an overlong line discarded so far
	block    int // remaining lines of a PEM block to withhold; 0: outside a block
}

var _ io.WriteCloser = (*Lines)(nil)

// Lines returns a writer that passes each redacted line, without its newline, to emit.
func (r *Redactor) Lines(emit func(line string)) *Lines { return &Lines{redact: r, emit: emit} }

// Write processes a chunk. It never fails.
func (l *Lines) Write(chunk []byte) (int, error) {
	size := len(chunk)
	for {
		head, rest, found := bytes.Cut(chunk, []byte{'\n'})
		l.takePart(head)
		if !found {
			return size, nil
		}
		l.finishLine()
		chunk = rest
	}
}

// Close emits a last line without a newline.
func (l *Lines) Close() error {
	if len(l.partial) > 0 || l.dropping > 0 {
		l.finishLine()
	}
	return nil
}

func (l *Lines) takePart(part []byte) {
	if l.dropping > 0 || len(l.partial)+len(part) > longestLine {
		l.dropping += len(l.partial) + len(part)
		l.partial = l.partial[:0]
		return
	}
	l.partial = append(l.partial, part...)
}

func (l *Lines) finishLine() {
	line := toPrintable(string(bytes.TrimRight(l.partial, "\r")))
	dropped := l.dropping
	l.partial, l.dropping = l.partial[:0], 0
	switch {
	case dropped > 0:
		l.emit(fmt.Sprintf("[a line of %d bytes withheld]", dropped))
	case l.block > 0:
		l.insideBlock(line)
	default:
		line = l.redact.redactLine(line)
		if blockBegins.mayMatch(strings.ToLower(line)) && blockBegins.MatchString(line) {
			line, l.block = blockBegins.ReplaceAllString(line, mark), longestBlock
		}
		l.emit(line)
	}
}

// toPrintable removes control characters: PostgreSQL cannot store a NUL, so a report with one would never be stored, and the lease
// never renewed.
func toPrintable(line string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\t' || r == 0x7f {
			return -1
		}
		return r
	}, line)
}

// insideBlock withholds the lines of a PEM block and emits what follows its end.
func (l *Lines) insideBlock(line string) {
	l.block--
	if end := blockEnds.FindStringIndex(line); end != nil {
		l.block = 0
		if rest := line[end[1]:]; rest != "" {
			l.emit(mark + l.redact.redactLine(rest))
		}
	}
}
