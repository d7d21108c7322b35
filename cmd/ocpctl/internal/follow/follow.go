// Package follow watches clusters change: by server-sent events, by polling if those do not get through, and across every connection
// failure during a cluster's creation. It changes nothing.
package follow

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/connect"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/exit"
)

// The server sends something at least every 15 s; a stream without anything at its start does not get through.
const (
	patience = 45 * time.Second
	start    = 15*time.Second + 5*time.Second
)

// Follower follows clusters on one server.
type Follower struct {
	API   *connect.API
	Every time.Duration                                    // polling interval if no stream gets through
	Sleep func(ctx context.Context, d time.Duration) error // the real one, or a test's
	Lost  func(err error)                                  // called if the server could not be reached, which is retried. Await uses its view instead
}

// State is a cluster's current state, parsed and as the server sent it.
type State struct {
	v1.Cluster
	Raw []byte
}

// errDone ends a stream that is no longer needed.
var errDone = errors.New("done")

// One calls seen with the cluster's current state and with every change, until seen returns enough. It survives lost connections
// until ctx ends, and gives up only if retrying is useless.
func (f *Follower) One(ctx context.Context, id string, seen func(State) (enough bool)) error {
	for {
		streamed, err := f.readStream(ctx, v1.WatchClustersParams{Cluster: []string{id}}, seen)
		if errors.Is(err, errDone) || ctx.Err() != nil {
			return ctx.Err()
		}
		if !streamed {
			enough, err := f.askOnce(ctx, id, seen)
			if enough || Final(err) {
				return err
			}
			f.reportLost(ctx, err)
		}
		if err := f.Sleep(ctx, f.Every); err != nil {
			return err
		}
	}
}

// Many calls seen for every cluster that this person may see and the filter selects, with its current state and every change, until ctx ends.
func (f *Follower) Many(ctx context.Context, filter string, seen func(State)) error {
	for {
		_, err := f.readStream(ctx, v1.WatchClustersParams{Filter: filter}, func(s State) bool { seen(s); return false })
		if ctx.Err() != nil || Final(err) {
			return errors.Join(ctx.Err(), err)
		}
		f.reportLost(ctx, err)
		if err := f.Sleep(ctx, f.Every); err != nil {
			return err
		}
	}
}

// readStream follows until the stream breaks; streamed reports that something arrived.
func (f *Follower) readStream(ctx context.Context, params v1.WatchClustersParams, seen func(State) bool) (streamed bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	slow := time.AfterFunc(start, cancel) // until the first event: something in between may buffer the stream
	defer slow.Stop()
	body, err := connect.Stream(f.API.WatchClusters(ctx, &params))
	if err != nil {
		return false, err
	}
	err = connect.Events(body, patience, func(e connect.Event) error {
		if e.Name != "cluster" {
			return nil
		}
		slow.Stop()
		streamed = true
		state, err := readState([]byte(e.Data))
		if err != nil {
			return err
		}
		if seen(state) {
			return errDone
		}
		return nil
	})
	return streamed, err
}

func (f *Follower) askOnce(ctx context.Context, id string, seen func(State) bool) (enough bool, err error) {
	raw, err := connect.Body(f.API.GetCluster(ctx, id))
	if err != nil {
		return false, err
	}
	state, err := readState(raw)
	if err != nil {
		return false, err
	}
	return seen(state), nil
}

func readState(raw []byte) (State, error) {
	s := State{Raw: raw}
	if err := json.Unmarshal(raw, &s.Cluster); err != nil {
		return s, fmt.Errorf("read a cluster: %w", err)
	}
	return s, nil
}

func (f *Follower) reportLost(ctx context.Context, err error) {
	if err != nil && f.Lost != nil && ctx.Err() == nil {
		f.Lost(err)
	}
}

// Final reports that retrying is useless.
func Final(err error) bool {
	switch exit.CodeOf(err) {
	case exit.Denied, exit.NotFound, exit.Usage:
		return true
	}
	return false
}
