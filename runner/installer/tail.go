package installer

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// LogName is the installer's own log in its directory: every line at trace level, more than it prints.
const LogName = ".openshift_install.log"

// tailBytes is how much of the log's end is looked at; a trace line is seldom longer than 300 bytes.
const tailBytes = 64 << 10

// Tail returns the last lines of the installer's own log, redacted. A log that was never written has none.
func (t *Tool) Tail(dir string, lines int) ([]string, error) {
	file, err := os.Open(filepath.Join(dir, LogName))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the installer's log: %w", err)
	}
	defer file.Close()
	size, err := file.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, fmt.Errorf("read the installer's log: %w", err)
	}
	start := max(size-tailBytes, 0)
	var kept []string
	out := t.Redact.Lines(func(line string) { kept = append(kept, line) })
	if _, err := io.Copy(out, io.NewSectionReader(file, start, size-start)); err != nil {
		return nil, fmt.Errorf("read the installer's log: %w", err)
	}
	out.Close()
	if start > 0 && len(kept) > 0 {
		kept = kept[1:] // its beginning is cut off, and with it perhaps what shows a secret to be one
	}
	return kept[max(len(kept)-lines, 0):], nil
}
