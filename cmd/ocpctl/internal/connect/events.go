package connect

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/internal/duration"
)

// Event is one server-sent event.
type Event struct{ Name, Data string }

// mostLine limits one line of a stream.
const mostLine = 4 << 20

// Events reads server-sent events until the stream ends, seen returns an error, or nothing arrived for the given patience; a working
// server sends a comment every 15 s. It closes the stream.
func Events(stream io.ReadCloser, patience time.Duration, seen func(Event) error) error {
	defer stream.Close()
	silent := make(chan struct{})
	watchdog := time.AfterFunc(patience, func() { close(silent); stream.Close() })
	defer watchdog.Stop()
	lines := bufio.NewScanner(stream)
	lines.Buffer(make([]byte, 0, 64<<10), mostLine)
	var e Event
	var data []string
	for lines.Scan() {
		watchdog.Reset(patience)
		name, value, _ := strings.Cut(lines.Text(), ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case lines.Text() == "":
			if e.Data = strings.Join(data, "\n"); e.Name != "" || len(data) > 0 {
				if err := seen(e); err != nil {
					return err
				}
			}
			e, data = Event{}, nil
		case name == "event":
			e.Name = value
		case name == "data":
			data = append(data, value)
		}
	}
	select {
	case <-silent:
		return fmt.Errorf("read the stream: nothing received for %s", duration.Format(patience))
	default:
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("read the stream: %w", err)
	}
	return errEnded
}

// errEnded says that the server ended the stream.
var errEnded = errors.New("read the stream: the server ended it")
