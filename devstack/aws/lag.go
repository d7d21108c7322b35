package aws

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Lag is how far reads are behind writes. Writes see everything at once, and so does the stand-in's own count.
type Lag struct {
	Create time.Duration // a new resource appears in Describe, List and GetResources only after that
	Delete time.Duration // a deleted resource of a type with an ARN stays in GetResources until then
	IAM    time.Duration // every read of IAM shows the state before that
}

func (l Lag) String() string {
	return fmt.Sprintf("create %s, delete %s, iam %s", l.Create, l.Delete, l.IAM)
}

// SetLag makes reads eventually consistent from now on; the zero Lag ends it. The world's initial resources are always visible.
func (s *Server) SetLag(l Lag) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.world.lag = l
}

// view returns the world as a call sees it: an older copy for reads that lag, otherwise the world itself.
func (w *world) view(c *call) *world {
	late, iam := w.lag.Create, c.service == "iam"
	if iam {
		late = w.lag.IAM
	}
	if late == 0 || !lags(c) {
		return w
	}
	now, seen := w.Now(), *w
	seen.Resources = slices.DeleteFunc(slices.Clone(w.Resources), func(r *Resource) bool { return !r.Stands && now.Sub(r.Created) < late })
	for _, r := range w.Dead {
		if iam && r.Service == "iam" && now.Sub(r.Gone) < late && now.Sub(r.Created) >= late {
			ghost := *r
			ghost.Gone = time.Time{}
			seen.Resources = append(seen.Resources, &ghost)
		}
	}
	return &seen
}

// lags reports whether a read may be late: lists and describe calls everywhere, and every read of IAM. Other reads by name (a zone, a
// quota, the caller itself) are consistent.
func lags(c *call) bool {
	return reads(c.action) && (c.service == "iam" || c.action == "GetResources" || !strings.HasPrefix(c.action, "Get"))
}
