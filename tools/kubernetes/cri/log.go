package cri

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// logFile writes the format of the Container Runtime Interface: time, stream, F for a whole line or P for a part of one, text.
type logFile struct {
	mu   sync.Mutex
	path string
	file *os.File
	open []*logStream
}

// longestLine is the longest that is written whole, as containerd does.
const longestLine = 16 << 10

func openLog(path string) (*logFile, error) {
	l := &logFile{path: path}
	return l, l.reopen()
}

// reopen is for a log that has been renamed.
func (l *logFile) reopen() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := os.MkdirAll(filepath.Dir(l.path), 0o755); err != nil {
		return err
	}
	file, err := os.OpenFile(l.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o640)
	if err != nil {
		return err
	}
	if l.file != nil {
		_ = l.file.Close() // what follows is written to the new one
	}
	l.file = file
	return nil
}

func (l *logFile) stream(name string) io.Writer {
	s := &logStream{log: l, name: name}
	l.open = append(l.open, s)
	return s
}

// Close writes what had no end of line.
func (l *logFile) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range l.open {
		if len(s.rest) > 0 {
			_ = s.line(s.rest, "F") // the file's own error is the same
		}
	}
	return l.file.Close()
}

type logStream struct {
	log  *logFile
	name string
	rest []byte
}

func (s *logStream) Write(p []byte) (int, error) {
	s.log.mu.Lock()
	defer s.log.mu.Unlock()
	s.rest = append(s.rest, p...)
	for {
		end := bytes.IndexByte(s.rest, '\n')
		kind, next := "F", end+1
		if end < 0 || end > longestLine {
			if len(s.rest) <= longestLine {
				return len(p), nil
			}
			kind, end, next = "P", longestLine, longestLine
		}
		if err := s.line(s.rest[:end], kind); err != nil {
			return 0, err
		}
		s.rest = s.rest[next:]
	}
}

func (s *logStream) line(text []byte, kind string) error {
	_, err := s.log.file.WriteString(time.Now().UTC().Format(time.RFC3339Nano) + " " + s.name + " " + kind + " " + string(text) + "\n")
	return err
}
