package controller_test

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/chatops/github"
	"github.com/ocpctl/ocpctl/controller"
	"github.com/ocpctl/ocpctl/internal/artifacts"
	"github.com/ocpctl/ocpctl/internal/dispatch"
)

var errAway = errors.New("no answer")

// yard is a place where runners run.
type yard struct {
	mu      sync.Mutex
	started []dispatch.Job
	stopped []string
	killed  []string
	seen    map[string]dispatch.Sighting // what is to be seen where it differs from "started runs"
	trouble map[string]*dispatch.Trouble
	refuses error // answered to every start while set
	living  []int // what is alive of every cluster
	kept    []string
	away    bool // it does not answer
	asked   int

	forgotten map[string]int // how often: it can be started again then
}

func (y *yard) Start(_ context.Context, job dispatch.Job) error {
	y.mu.Lock()
	defer y.mu.Unlock()
	if y.away {
		return errAway
	}
	if y.refuses != nil {
		return y.refuses
	}
	times := 0
	for _, s := range y.started {
		if s.Attempt == job.Attempt {
			times++
		}
	}
	if times > y.forgotten[job.Attempt] {
		return nil
	}
	y.started = append(y.started, job)
	return nil
}

func (y *yard) Observe(_ context.Context, attempt string) (dispatch.Observation, error) {
	y.mu.Lock()
	defer y.mu.Unlock()
	y.asked++
	if y.away {
		return dispatch.Observation{}, errAway
	}
	o := dispatch.Observation{Trouble: y.trouble[attempt]}
	if seen, ok := y.seen[attempt]; ok {
		o.Sighting = seen
		return o, nil
	}
	if slices.ContainsFunc(y.started, func(j dispatch.Job) bool { return j.Attempt == attempt }) {
		o.Sighting = dispatch.Running
		return o, nil
	}
	o.Sighting = dispatch.NotStarted
	return o, nil
}

func (y *yard) Living(context.Context, string) ([]int, error) {
	y.mu.Lock()
	defer y.mu.Unlock()
	if y.away {
		return nil, errAway
	}
	return y.living, nil
}

func (y *yard) Stop(_ context.Context, attempt string) error {
	y.mu.Lock()
	defer y.mu.Unlock()
	y.stopped = append(y.stopped, attempt)
	return nil
}

func (y *yard) Kill(_ context.Context, attempt string) error {
	y.mu.Lock()
	defer y.mu.Unlock()
	y.killed = append(y.killed, attempt)
	y.seen[attempt] = dispatch.Ended
	return nil
}

func (y *yard) Kept(context.Context) ([]string, error) {
	y.mu.Lock()
	defer y.mu.Unlock()
	return slices.Clone(y.kept), nil
}

func (y *yard) Forget(_ context.Context, attempt string) error {
	y.mu.Lock()
	defer y.mu.Unlock()
	y.kept = slices.DeleteFunc(y.kept, func(k string) bool { return k == attempt })
	if y.forgotten == nil {
		y.forgotten = map[string]int{}
	}
	y.forgotten[attempt]++
	delete(y.seen, attempt)
	return nil
}

func (y *yard) show(attempt string, seen dispatch.Sighting) {
	y.mu.Lock()
	defer y.mu.Unlock()
	y.seen[attempt] = seen
}

func (y *yard) starts() []dispatch.Job {
	y.mu.Lock()
	defer y.mu.Unlock()
	return slices.Clone(y.started)
}

// board is where words are posted. Like GitHub's it finds what is there by its marker, and completed check runs are not
// opened again. What else there is to a GitHub is no matter of those tests that use it: the others have the stand-in.
type board struct {
	controller.GitHub
	mu       sync.Mutex
	next     int64
	comments map[int64]post
	checks   map[int64]check
	calls    int
	refuses  error // answered to every call while set
}

type post struct{ marker, body string }

type check struct {
	key, head, name string
	run             chatops.CheckRun
}

func (b *board) UpsertComment(_ context.Context, to github.CommentTarget, body string) (int64, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.calls++; b.refuses != nil {
		return 0, b.refuses
	}
	id := to.ExternalID
	if _, there := b.comments[id]; id != 0 && !there {
		return 0, github.ErrGone
	}
	for known, c := range b.comments {
		if id == 0 && c.marker == to.Marker {
			id = known
		}
	}
	if id == 0 {
		b.next++
		id = b.next
	}
	b.comments[id] = post{to.Marker, body}
	return id, nil
}

func (b *board) UpsertCheckRun(_ context.Context, to github.CheckTarget, run chatops.CheckRun) (int64, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.calls++; b.refuses != nil {
		return 0, b.refuses
	}
	id := to.ExternalID
	if old, there := b.checks[id]; !there || (old.run.Status == "completed" && run.Status != "completed") {
		b.next++
		id = b.next
	}
	b.checks[id] = check{to.ExternalKey, to.Head, to.Name, run}
	return id, nil
}

func (b *board) UpsertDeployment(_ context.Context, to github.DeploymentTarget, _ chatops.Deployment) (int64, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if to.ExternalID == 0 {
		b.next++
		return b.next, nil
	}
	return to.ExternalID, nil
}

// withMarker returns the bodies of the comments that carry the marker.
func (b *board) withMarker(marker string) (bodies []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, c := range b.comments {
		if c.marker == marker {
			bodies = append(bodies, c.body)
		}
	}
	return bodies
}

func (b *board) called() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.calls
}

// bucket holds spools.
type bucket struct {
	docs map[string][]artifacts.Document
	away bool
	read int
}

func (b *bucket) Spooled(_ context.Context, attempt string) ([]artifacts.Document, error) {
	b.read++
	if b.away {
		return nil, errAway
	}
	return b.docs[attempt], nil
}
