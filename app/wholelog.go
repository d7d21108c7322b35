package app

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store/attempts"
	"github.com/ocpctl/ocpctl/store/clusters"
)

const (
	// LogPageLines is how many lines of a log a page has at most.
	LogPageLines = 1000
	// MostFound is how many lines a search in a log finds at most.
	MostFound = 200
)

// Logs returns a cluster with its attempts that logged something, oldest first.
func (s *Service) Logs(ctx context.Context, p policy.Principal, ref string) (clusters.Row, []attempts.AttemptLog, error) {
	row, err := s.Cluster(ctx, p, ref)
	if err != nil {
		return clusters.Row{}, nil, err
	}
	logs, err := s.store.Attempts.Logs(ctx, row.ID)
	return row, logs, err
}

// LogOf returns a cluster, its logs, and the log of one of its attempts.
func (s *Service) LogOf(ctx context.Context, p policy.Principal, ref string, number int) (clusters.Row, []attempts.AttemptLog, attempts.AttemptLog, error) {
	row, logs, err := s.Logs(ctx, p, ref)
	if err != nil {
		return clusters.Row{}, nil, attempts.AttemptLog{}, err
	}
	at := slices.IndexFunc(logs, func(l attempts.AttemptLog) bool { return l.Number == number })
	if at < 0 {
		return clusters.Row{}, nil, attempts.AttemptLog{}, Fail(NotFound, fmt.Sprintf("There is no log of attempt %d of %s. Logs are deleted 30 to 90 days after a cluster is destroyed.", number, row.Name))
	}
	return row, logs, logs[at], nil
}

// LogPage returns a page of an attempt's log, beginning with the line from. It is redacted.
func (s *Service) LogPage(ctx context.Context, row clusters.Row, l attempts.AttemptLog, from int) ([]attempts.LogLine, error) {
	return s.store.Attempts.LogPage(ctx, row.ID, l.Number, from, LogPageLines)
}

// FindInLog returns the first lines of an attempt's log from a line on that contain a text, whatever the case: at most MostFound, and only an excerpt of a long line.
func (s *Service) FindInLog(ctx context.Context, row clusters.Row, l attempts.AttemptLog, from int, text string) ([]attempts.LogLine, error) {
	return s.store.Attempts.FindInLog(ctx, row.ID, l.Number, from, text, MostFound)
}

// FailingLine returns the number of the line by which the failure of an attempt was recognized; 0: it is not in its log.
func (s *Service) FailingLine(ctx context.Context, row clusters.Row, l attempts.AttemptLog) (int, error) {
	return s.store.Attempts.FailingLine(ctx, row.ID, l.Number)
}

// SendLog writes the whole log of an attempt, in parts, so that a long one is never in memory.
func (s *Service) SendLog(ctx context.Context, row clusters.Row, l attempts.AttemptLog, to io.Writer) error {
	return s.store.Attempts.SendLog(ctx, row.ID, l.Number, func(part string) error {
		_, err := io.WriteString(to, part)
		return err
	})
}
