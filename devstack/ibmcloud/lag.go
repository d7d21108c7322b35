package ibmcloud

import (
	"fmt"
	"time"
)

// Lag is how far reads are behind writes. Writes see everything at once, and so does the stand-in's own count.
type Lag struct {
	Groups time.Duration // a new resource group appears in its list only after that
	Create time.Duration // a new resource is found by Global Search only after that
	Delete time.Duration // a deleted resource is found by Global Search until then
}

func (l Lag) String() string {
	return fmt.Sprintf("groups %s, create %s, delete %s", l.Groups, l.Create, l.Delete)
}

// SetLag makes reads eventually consistent from now on; the zero Lag ends it. The world's initial resources are always visible.
func (s *Server) SetLag(l Lag) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.world.lag = l
}

// late reports that a resource is too new for a list that lags.
func (w *world) late(r *Resource, by time.Duration) bool {
	return !r.Stands && w.Now().Sub(r.Created) < by
}
