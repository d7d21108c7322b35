// Package follow watches clusters change: by server-sent events, by asking again where those do not come through, and
// through everything that can happen to a connection while a cluster is made. It changes nothing.
package follow

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/ocpctl/ocpctl/app/api/client"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/connect"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/exit"
)

// The server's words come every 15 s at the latest; a stream that says nothing at its start does not come through.
const (
	patience = 45 * time.Second
	start    = 15*time.Second + 5*time.Second
)

// Follower follows clusters on one server.
type Follower struct {
	API   *connect.API
	Every time.Duration                                    // how often to ask where no stream comes through
	Sleep func(ctx context.Context, d time.Duration) error // the real one, or a test's
	Lost  func(err error)                                  // the server could not be asked; it is asked again. Await has its view instead
}

// State is a cluster as it stands, and as the server said it.
type State struct {
	client.Cluster
	Raw []byte
}

// errDone ends a stream that is not needed any more.
var errDone = errors.New("done")

// One calls seen with the cluster as it is and whenever it changed, until seen says that it has seen enough. It goes on
// through lost connections until ctx ends, and gives up only where asking again is no use.
func (f *Follower) One(ctx context.Context, id string, seen func(State) (enough bool)) error {
	for {
		streamed, err := f.stream(ctx, []string{id}, seen)
		if errors.Is(err, errDone) || ctx.Err() != nil {
			return ctx.Err()
		}
		if !streamed {
			enough, err := f.ask(ctx, id, seen)
			if enough || Final(err) {
				return err
			}
			f.lost(ctx, err)
		}
		if err := f.Sleep(ctx, f.Every); err != nil {
			return err
		}
	}
}

// Many calls seen for every cluster that this person may see, as it is and whenever it changed, until ctx ends.
func (f *Follower) Many(ctx context.Context, seen func(State)) error {
	for {
		_, err := f.stream(ctx, nil, func(s State) bool { seen(s); return false })
		if ctx.Err() != nil || Final(err) {
			return errors.Join(ctx.Err(), err)
		}
		f.lost(ctx, err)
		if err := f.Sleep(ctx, f.Every); err != nil {
			return err
		}
	}
}

// stream follows until the stream breaks; streamed says that something came.
func (f *Follower) stream(ctx context.Context, ids []string, seen func(State) bool) (streamed bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	slow := time.AfterFunc(start, cancel) // until the first word: something in between keeps it back
	defer slow.Stop()
	body, err := connect.Stream(f.API.WatchClusters(ctx, &client.WatchClustersParams{Cluster: ids}))
	if err != nil {
		return false, err
	}
	err = connect.Events(body, patience, func(e connect.Event) error {
		if e.Name != "cluster" {
			return nil
		}
		slow.Stop()
		streamed = true
		state, err := read([]byte(e.Data))
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

func (f *Follower) ask(ctx context.Context, id string, seen func(State) bool) (enough bool, err error) {
	raw, err := connect.Body(f.API.GetCluster(ctx, id))
	if err != nil {
		return false, err
	}
	state, err := read(raw)
	if err != nil {
		return false, err
	}
	return seen(state), nil
}

func read(raw []byte) (State, error) {
	s := State{Raw: raw}
	if err := json.Unmarshal(raw, &s.Cluster); err != nil {
		return s, fmt.Errorf("read a cluster: %w", err)
	}
	return s, nil
}

func (f *Follower) lost(ctx context.Context, err error) {
	if err != nil && f.Lost != nil && ctx.Err() == nil {
		f.Lost(err)
	}
}

// Final says that asking again is no use.
func Final(err error) bool {
	switch exit.CodeOf(err) {
	case exit.Denied, exit.NotFound, exit.Usage:
		return true
	}
	return false
}
