package app

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ocpctl/ocpctl/chatops/messages"
	"github.com/ocpctl/ocpctl/internal/closest"
	"github.com/ocpctl/ocpctl/lifecycle/pool"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store/pools"
)

// PoolAction is what an admin does to a pool.
type PoolAction string

// The actions.
const (
	PausePool  PoolAction = "pause"  // nothing is made or replaced; what waits can be claimed
	ResumePool PoolAction = "resume" // neither paused nor drained
	DrainPool  PoolAction = "drain"  // what waits ends, and nothing is made
	ResizePool PoolAction = "resize" // another number of clusters than the catalogue's
)

// PoolActions lists every action.
var PoolActions = []PoolAction{PausePool, ResumePool, DrainPool, ResizePool}

// PoolMode is whether a pool works.
type PoolMode string

// The modes, the strongest first.
const (
	PoolGone     PoolMode = "gone" // the catalogue no longer has it: what waits in it ends
	PoolDraining PoolMode = "draining"
	PoolPaused   PoolMode = "paused"
	PoolOpen     PoolMode = "open"
)

// Mode returns whether the pool works.
func (p PoolState) Mode() PoolMode {
	switch {
	case p.Gone:
		return PoolGone
	case p.Settings.Draining:
		return PoolDraining
	case p.Paused || p.Settings.Paused:
		return PoolPaused
	}
	return PoolOpen
}

// DesiredNow is how many clusters are to wait now: none while the pool does not work.
func (p PoolState) DesiredNow() int {
	if p.Mode() != PoolOpen || slices.Contains(p.Acts.Why, pool.Closed) {
		return 0
	}
	return p.WantedSize()
}

// PooledCluster is a cluster of a pool, and where it stands there.
type PooledCluster struct {
	pools.Cluster
	State pool.State
}

// ListClusters returns the pool's clusters that the principal may see, the oldest first.
func (p PoolState) ListClusters(who policy.Principal) (out []PooledCluster) {
	for _, c := range p.Clusters {
		if who.May(policy.ActSee, c.Team) {
			out = append(out, PooledCluster{c, poolStateOf(c)})
		}
	}
	return out
}

// VisiblePools returns the pools of the principal's teams, and those that these may claim from, by name.
func (s *Service) VisiblePools(ctx context.Context, who policy.Principal) ([]PoolState, error) {
	if err := MayForEverybody(who, policy.ActProfiles, "see the pools"); err != nil {
		return nil, err
	}
	states, err := s.Pools(ctx)
	return slices.DeleteFunc(states, func(p PoolState) bool { return !who.SeesPool(p.Pool) }), err
}

// VisiblePool returns one of them. An error names what there is instead.
func (s *Service) VisiblePool(ctx context.Context, who policy.Principal, name string) (PoolState, error) {
	states, err := s.VisiblePools(ctx, who)
	if err != nil {
		return PoolState{}, err
	}
	var names []string
	for _, p := range states {
		if p.Name == name {
			return p, nil
		}
		names = append(names, p.Name)
	}
	text := fmt.Sprintf("The pool %s does not exist.", name)
	if near, found := closest.Match(name, names); found {
		text += fmt.Sprintf(" Did you mean %s?", near)
	} else if len(names) > 0 {
		text += fmt.Sprintf(" Accepted: %s.", strings.Join(names, ", "))
	} else {
		text += " Ask a platform admin for one."
	}
	return PoolState{}, Fail(NotFound, text)
}

// ChangePool pauses, resumes, drains or resizes a pool, and returns it as it is then. size is for ResizePool; nil: the catalogue's.
func (s *Service) ChangePool(ctx context.Context, who policy.Principal, name string, action PoolAction, size *int, origin Origin) (PoolState, error) {
	if err := MayForEverybody(who, policy.ActPools, "change a pool"); err != nil {
		return PoolState{}, err
	}
	p, err := s.VisiblePool(ctx, who, name)
	if err != nil {
		return PoolState{}, err
	}
	if origin, err = CheckReason(origin, false); err != nil {
		return PoolState{}, err
	}
	if err := checkPoolChange(p, action, size); err != nil {
		return PoolState{}, err
	}
	err = s.store.Pools.Change(ctx, name, s.StoreOrigin(origin, who), func(set *pools.Settings) {
		switch action {
		case PausePool:
			set.Paused = true
		case ResumePool:
			set.Paused, set.Draining = false, false
		case DrainPool:
			set.Draining = true
		case ResizePool:
			set.Size = size
		}
	})
	if err != nil {
		return PoolState{}, err
	}
	return s.VisiblePool(ctx, who, name)
}

// checkPoolChange says what keeps a pool from being changed so.
func checkPoolChange(p PoolState, action PoolAction, size *int) error {
	switch {
	case !slices.Contains(PoolActions, action):
		accept := make([]string, 0, len(PoolActions))
		for _, one := range PoolActions {
			accept = append(accept, string(one))
		}
		return invalidPoolChange("action", fmt.Sprintf("%q is not an action", action), accept...)
	case p.Gone:
		return Fail(Conflict, fmt.Sprintf("The catalogue no longer has the pool %s, and what waits in it ends by itself. Add pools/%s.yaml to the catalogue to have it again.", p.Name, p.Name))
	case action == ResumePool && p.Paused:
		return Fail(Conflict, fmt.Sprintf("The catalogue says that the pool %s is paused. Remove paused from pools/%s.yaml to resume it.", p.Name, p.Name))
	case action != ResizePool && size != nil:
		return invalidPoolChange("size", fmt.Sprintf("%s takes no size", action), "none")
	case size != nil && (*size < 0 || *size > p.Max):
		return invalidPoolChange("size", fmt.Sprintf("it is %d", *size), fmt.Sprintf("0 to %d, the pool's max", p.Max), "none, for the catalogue's size")
	}
	return nil
}

func invalidPoolChange(field, detail string, accept ...string) error {
	return &Error{Kind: Invalid, Message: "The pool was not changed.", Fields: []Field{ProblemOf(field, messages.Problem{Detail: detail, Accept: accept})}}
}
