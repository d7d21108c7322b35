package connect

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/exit"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/humanize"
	"github.com/ocpctl/ocpctl/internal/duration"
)

// mostAnswer limits the size of a response that is not a stream.
const mostAnswer = 64 << 20

// Answer is the server's response: parsed, and as it came.
type Answer[T any] struct {
	Value  T
	Raw    []byte
	Header http.Header
}

// Read reads a response of the generated client. An error response becomes an error with its exit code and all its fields.
func Read[T any](res *http.Response, err error) (Answer[T], error) {
	var a Answer[T]
	if a.Raw, err = Body(res, err); err != nil {
		return a, err
	}
	a.Header = res.Header
	if err := json.Unmarshal(a.Raw, &a.Value); err != nil {
		return a, fmt.Errorf("read the server's response: %w; check that --server is an ocpctl server of the same version", err)
	}
	return a, nil
}

// Body returns the whole body of a successful response of the generated client.
func Body(res *http.Response, err error) ([]byte, error) {
	body, err := Stream(res, err)
	if err != nil {
		return nil, err
	}
	defer body.Close()
	raw, err := io.ReadAll(io.LimitReader(body, mostAnswer+1))
	if err != nil {
		return nil, fmt.Errorf("read the server's response: %w", err)
	}
	if len(raw) > mostAnswer {
		return nil, errors.New("read the server's response: it is too large")
	}
	return raw, nil
}

// Stream returns the open body of a successful response of the generated client. The caller closes it.
func Stream(res *http.Response, err error) (io.ReadCloser, error) {
	if err != nil {
		return nil, err
	}
	if res.StatusCode/100 == 2 {
		return res.Body, nil
	}
	defer res.Body.Close()
	return nil, readProblem(res)
}

// exitCode maps an HTTP status to an exit code; Other if there is none.
func exitCode(status int) exit.Code {
	switch status {
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge:
		return exit.Usage
	case http.StatusUnauthorized, http.StatusForbidden:
		return exit.Denied
	case http.StatusNotFound, http.StatusGone:
		return exit.NotFound
	case http.StatusConflict, http.StatusPreconditionFailed:
		return exit.Conflict
	case http.StatusUnprocessableEntity:
		return exit.Refused
	}
	return exit.Other
}

// Status is an error response of the server.
type Status struct {
	Code int // HTTP's
	said *exit.Problem
}

func (s *Status) Error() string { return s.said.Error() }

// Is reports whether an error is a response with this HTTP status.
func Is(err error, status int) bool {
	var s *Status
	return errors.As(err, &s) && s.Code == status
}

// readProblem reads an error response. If it is not a problem document, it comes from something between us and the server.
func readProblem(res *http.Response) error {
	raw, _ := io.ReadAll(io.LimitReader(res.Body, 1<<20))
	var p v1.Problem
	kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
	if kind != "application/problem+json" || json.Unmarshal(raw, &p) != nil {
		return exit.With(exitCode(res.StatusCode), &Status{res.StatusCode, &exit.Problem{Title: describeStranger(res)}})
	}
	said := &exit.Problem{Title: humanize.Clean(p.Detail)}
	if said.Title == "" {
		said.Title = humanize.Clean(p.Title)
	}
	for _, f := range p.Errors {
		field := exit.Field{Name: humanize.Line(f.Field), Detail: humanize.Line(f.Detail)}
		for _, value := range f.Accepted {
			field.Accepted = append(field.Accepted, humanize.Line(value))
		}
		said.Fields = append(said.Fields, field)
	}
	if res.StatusCode == http.StatusUnauthorized {
		said.Next = "Check how you sign in with ocpctl context list, or choose another way with ocpctl login."
	}
	return exit.With(exitCode(res.StatusCode), &Status{res.StatusCode, said})
}

func describeStranger(res *http.Response) string {
	address := "the server"
	if res.Request != nil {
		address = res.Request.URL.Scheme + "://" + res.Request.URL.Host
	}
	if to := res.Header.Get("Location"); res.StatusCode/100 == 3 && to != "" {
		return fmt.Sprintf("%s redirects to %s, which an ocpctl server does not do. It may be a proxy that asks people to sign in. Give the API's own address with --server.",
			address, humanize.Line(strings.SplitN(to, "?", 2)[0]))
	}
	return fmt.Sprintf("%s answered %s, which is not a response of an ocpctl server. Check --server.", address, humanize.Line(res.Status))
}

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
