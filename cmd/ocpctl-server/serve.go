package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/ocpctl/ocpctl/store/db"
)

// drain is how long a graceful stop waits for requests and jobs, after listen.drain_delay; none of them takes longer than thirty seconds.
const drain = 35 * time.Second

// serveUntilDone runs until ctx ends. Then it takes no more jobs and reports that it is not ready; a moment later, when load balancers have
// noticed, it accepts no more requests. It finishes what is running and returns. Runners are not touched.
func (s *server) serveUntilDone(ctx context.Context) error {
	defer s.store.Close()
	group, ctx := errgroup.WithContext(ctx)
	defer context.AfterFunc(ctx, func() {
		s.log.Info("stopping", "drain_delay", s.drainDelay)
		s.drain()
	})()
	for _, h := range []*http.Server{s.public, s.private, s.runners, s.probes} {
		if h != nil {
			group.Go(func() error { return s.listenOn(ctx, h) })
		}
	}
	if s.slack != nil {
		group.Go(func() error {
			s.slack.Run(ctx)
			return nil
		})
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
		group.Go(func() error { return s.runWorkers(ctx) })
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

func (s *server) listenOn(ctx context.Context, h *http.Server) error {
	l, err := net.Listen("tcp", h.Addr)
	if err != nil {
		return fmt.Errorf("listen on %s: %w", h.Addr, err)
	}
	s.log.Info("listening", "addr", l.Addr().String())
	stopped := make(chan error, 1)
	go func() {
		<-ctx.Done()
		time.Sleep(s.drainDelay)
		within, cancel := context.WithTimeout(context.WithoutCancel(ctx), drain)
		defer cancel()
		stopped <- h.Shutdown(within)
	}()
	answer := h.Serve
	if h.TLSConfig != nil {
		answer = func(l net.Listener) error { return h.ServeTLS(l, "", "") }
	}
	if err := answer(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return <-stopped
}

// runWorkers runs the workers while this process holds its name in the queue.
func (s *server) runWorkers(ctx context.Context) error {
	defer s.instance.Release() // what could not be finished is then taken over at once
	// River's context must outlive ours, so that a running job is finished at the stop and not cancelled.
	if err := s.workers.Start(context.WithoutCancel(ctx)); err != nil {
		return fmt.Errorf("start the workers: %w", err)
	}
	holding, cancel := context.WithCancel(context.WithoutCancel(ctx))
	held := make(chan error, 1)
	go func() {
		defer close(held)
		held <- s.instance.Hold(holding, func(taken db.TakenOver) { logTakenOver(s.log, taken) }, func(err error) {
			s.log.Warn("lost this process's name in the queue and takes it again", "instance", s.instance.Name(), "err", err)
		})
	}()
	var lost error
	select {
	case <-ctx.Done():
	case lost = <-held:
	}
	within, stop := context.WithTimeout(context.WithoutCancel(ctx), drain)
	defer stop()
	err := s.workers.Stop(within)
	cancel()
	return errors.Join(lost, err, <-held)
}
