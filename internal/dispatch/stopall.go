package dispatch

import (
	"context"
	"fmt"
	"time"
)

// Runners are a dispatcher's runners, as StopAll needs them.
type Runners interface {
	Kept(ctx context.Context) ([]string, error)
	Observe(ctx context.Context, attempt string) (Observation, error)
	Stop(ctx context.Context, attempt string) error
}

// StopAll asks every living runner to end and waits until none is left, or ctx ends. It is for shutting down a whole machine; a server
// that stops leaves its runners running.
func StopAll(ctx context.Context, runners Runners) error {
	ended := map[string]bool{}
	for {
		living, err := livingOf(ctx, runners, ended)
		if err != nil || len(living) == 0 {
			return err
		}
		for _, attempt := range living {
			if err := runners.Stop(ctx, attempt); err != nil {
				return err
			}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("runners still alive: %v: %w", living, ctx.Err())
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// livingOf returns the attempts with a living runner. It adds those that ended, which stay so, and does not ask about them again.
func livingOf(ctx context.Context, runners Runners, ended map[string]bool) ([]string, error) {
	kept, err := runners.Kept(ctx)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, attempt := range kept {
		if ended[attempt] {
			continue
		}
		seen, err := runners.Observe(ctx, attempt)
		if err != nil {
			return nil, err
		}
		if seen.Sighting == Running {
			out = append(out, attempt)
		}
		ended[attempt] = seen.Sighting == Ended
	}
	return out, nil
}
