package dispatch

import (
	"context"
	"fmt"
	"time"
)

// StopAll asks every living runner of the work directory to end and waits until none is left, or ctx ends. It is for shutting down a
// whole machine; a server that stops leaves its runners running.
func (p *Process) StopAll(ctx context.Context) error {
	for {
		living, err := p.living(ctx)
		if err != nil || len(living) == 0 {
			return err
		}
		for _, attempt := range living {
			if err := p.Stop(ctx, attempt); err != nil {
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

func (p *Process) living(ctx context.Context) ([]string, error) {
	kept, err := p.Kept(ctx)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, attempt := range kept {
		seen, err := p.Observe(ctx, attempt)
		if err != nil {
			return nil, err
		}
		if seen.Sighting == Running {
			out = append(out, attempt)
		}
	}
	return out, nil
}
