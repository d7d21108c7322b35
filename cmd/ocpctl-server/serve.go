package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"golang.org/x/sync/errgroup"
)

// drain is how long a graceful stop waits for requests and jobs; none of them takes longer than thirty seconds.
const drain = 35 * time.Second

// serve runs until ctx ends, then stops accepting work, finishes what is running, and returns. Runners are not touched.
func (s *server) serve(ctx context.Context) error {
	defer s.store.Close()
	group, ctx := errgroup.WithContext(ctx)
	for _, h := range []*http.Server{s.public, s.private, s.probes} {
		if h != nil {
			group.Go(func() error { return s.listen(ctx, h) })
		}
	}
	if s.catalogue != nil {
		group.Go(func() error {
			s.catalogue.Watch(ctx, s.reload)
			return nil
		})
	}
	if s.people != nil {
		group.Go(func() error {
			s.keepPeople(ctx)
			return nil
		})
	}
	if s.workers != nil {
		group.Go(func() error { return s.work(ctx) })
		group.Go(func() error {
			s.watch(ctx)
			return nil
		})
	}
	return group.Wait()
}

// keepPeople stores the people of the catalogue in force whenever they change. A failure is retried.
func (s *server) keepPeople(ctx context.Context) {
	ticks := time.NewTicker(s.reload)
	defer ticks.Stop()
	for {
		if err := s.people(ctx); err != nil && ctx.Err() == nil {
			s.log.Error("people of the catalogue not kept", "err", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-ticks.C:
		}
	}
}

func (s *server) listen(ctx context.Context, h *http.Server) error {
	l, err := net.Listen("tcp", h.Addr)
	if err != nil {
		return fmt.Errorf("listen on %s: %w", h.Addr, err)
	}
	s.log.Info("listening", "addr", l.Addr().String())
	stopped := make(chan error, 1)
	go func() {
		<-ctx.Done()
		within, cancel := context.WithTimeout(context.WithoutCancel(ctx), drain)
		defer cancel()
		stopped <- h.Shutdown(within)
	}()
	if err := h.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return <-stopped
}

func (s *server) work(ctx context.Context) error {
	// River's context must outlive ours, so that a running job is finished at the stop and not cancelled.
	if err := s.workers.Start(context.WithoutCancel(ctx)); err != nil {
		return fmt.Errorf("start the workers: %w", err)
	}
	<-ctx.Done()
	within, cancel := context.WithTimeout(context.WithoutCancel(ctx), drain)
	defer cancel()
	return s.workers.Stop(within)
}
