package installer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// LogName is the installer's own log in its directory: every line at trace level, more than it prints.
const LogName = ".openshift_install.log"

// tailBytes is how much of the log's end is read: some thousand lines. The cause of a failure is there, sometimes long before the
// installer's last messages.
const tailBytes = 512 << 10

// Tail returns the last lines of the installer's own log, redacted; none if it was never written.
func (t *Tool) Tail(dir string) ([]string, error) {
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
		kept = kept[1:] // the first line is cut off, and with it perhaps what makes a secret recognisable
	}
	return kept, nil
}

// Follow passes each new line of the installer's own log to emit, redacted, until ctx ends. It checks at an interval; the log need
// not exist yet.
func (t *Tool) Follow(ctx context.Context, dir string, every time.Duration, emit func(line string)) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	out := t.Redact.Lines(emit)
	path, read := filepath.Join(dir, LogName), int64(0)
	for {
		read += copyFrom(path, read, out)
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// copyFrom copies a file's content from an offset on and returns how much that was. What cannot be read now is read later.
func copyFrom(path string, offset int64, to io.Writer) int64 {
	file, err := os.Open(path)
	if err != nil {
		return 0
	}
	defer file.Close()
	if _, err := file.Seek(offset, io.SeekStart); err != nil {
		return 0
	}
	n, _ := io.Copy(to, file)
	return n
}
