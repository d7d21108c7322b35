package app

import (
	"context"
	"fmt"
	"time"

	"github.com/ocpctl/ocpctl/internal/duration"
	"github.com/ocpctl/ocpctl/lifecycle/pool"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/policy/catalogue"
	"github.com/ocpctl/ocpctl/store/pools"
)

const (
	// advisedFrom is how far back the advice on a pool looks.
	advisedFrom = 28 * duration.Day
	// adviceLasts is how long a pool that follows its claims does so by the same advice.
	adviceLasts = time.Hour
	// usualInstall and usualWake are taken if nothing of a pool was installed or woken: openshift-install takes 40 minutes, a cluster up to 10
	// until it is usable after its machines were started.
	usualInstall = 40 * time.Minute
	usualWake    = 10 * time.Minute
)

// PoolAdvice says how many clusters of a pool should have waited.
type PoolAdvice struct {
	Pool          PoolState
	Since         time.Time
	Claims, Anew  int // requests that took a cluster of it; that got a new one although one of it would have fit
	Install, Wake time.Duration
	pool.Advice
}

// AdvisePool returns the advice on a pool that the principal may see.
func (s *Service) AdvisePool(ctx context.Context, who policy.Principal, name string) (PoolAdvice, error) {
	p, err := s.VisiblePool(ctx, who, name)
	if err != nil {
		return PoolAdvice{}, err
	}
	if p.Gone {
		return PoolAdvice{}, Fail(Conflict, fmt.Sprintf("The catalogue no longer has the pool %s.", name))
	}
	now, err := s.store.Now(ctx)
	if err != nil {
		return PoolAdvice{}, fmt.Errorf("read the clock: %w", err)
	}
	return s.advisePool(ctx, p, s.catalogue(), now)
}

func (s *Service) advisePool(ctx context.Context, p PoolState, c catalogue.Catalogue, now time.Time) (PoolAdvice, error) {
	out := PoolAdvice{Pool: p, Since: now.Add(-s.policy.Scale(advisedFrom)), Install: s.policy.Scale(usualInstall), Wake: s.policy.Scale(usualWake)}
	kind := pools.Kind{Pool: p.Name, Profile: p.Profile, Region: c.RegionOf(p.Pool), Version: p.Version}
	if profile, known := c.Get(p.Profile); known && kind.Version == "" {
		kind.Version = profile.Versions.Default
	}
	known, err := s.store.Pools.History(ctx, kind, out.Since)
	if err != nil {
		return PoolAdvice{}, err
	}
	switch {
	case known.Since == nil:
		out.Since = now
	case known.Since.After(out.Since): // what was not there was not needed
		out.Since = *known.Since
	}
	if known.Install != nil {
		out.Install = *known.Install
	}
	if known.Wake != nil {
		out.Wake = *known.Wake
	}
	h := pool.History{Since: out.Since, Until: now, Zone: p.WorkHours.Zone(), Install: out.Install, Wake: out.Wake}
	for _, need := range known.Needs {
		switch {
		case need.Claimed:
			out.Claims++
		case p.MayClaim(need.Team):
			out.Anew++
		default:
			continue
		}
		h.Requests = append(h.Requests, need.At)
	}
	out.Advice = pool.Advise(h)
	return out, nil
}

// advised is the advice that a pool follows, and until when.
type advised struct {
	advice pool.Advice
	until  time.Time
}

// runningByClaims returns how many clusters of a pool that follows its claims are awake now, at most its size.
func (s *Service) runningByClaims(ctx context.Context, p PoolState, c catalogue.Catalogue, now time.Time) (int, error) {
	kept, _ := s.advised.Load(p.Name)
	one, known := kept.(advised)
	if !known || !now.Before(one.until) {
		found, err := s.advisePool(ctx, p, c, now)
		if err != nil {
			return 0, err
		}
		one = advised{found.Advice, now.Add(s.policy.Scale(adviceLasts))}
		s.advised.Store(p.Name, one)
	}
	return min(max(p.Running, one.advice.RunningAt(now)), p.WantedSize()), nil
}
