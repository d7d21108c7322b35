package app

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
)

// pageOfWatch is how many clusters are read at a time if all are shown.
const pageOfWatch = 200

// View receives what a watch sees.
type View struct {
	Who    func() policy.Principal // who looks, with their current roles: a watch may outlive them
	Filter string                  // shows only what it selects, and what it no longer selects once more; empty: all
	Every  time.Duration           // between two calls of Beat
	Begin  func() error            // called once the named clusters were found
	Show   func(clusters.Row) error
	Beat   func() error // called regularly, to keep the connection alive
}

// Watch shows the named clusters, or all live ones that the principal may see, and then each of them again whenever it changed,
// until ctx is done or the view returns an error. It checks each time who looks and whether they may see the cluster.
func (s *Service) Watch(ctx context.Context, refs []string, v View) error {
	p := v.Who()
	var ids []string
	for _, ref := range refs {
		row, err := s.Cluster(ctx, p, ref)
		if err != nil {
			return err
		}
		ids = append(ids, row.ID)
	}
	if err := mayWatch(p, refs); err != nil {
		return err
	}
	changes, stop := s.store.Follow(ctx, ids...)
	defer stop()
	if err := v.Begin(); err != nil {
		return err
	}
	w := watching{service: s, ids: ids, view: v, shown: map[string]look{}}
	if err := w.showAll(ctx); err != nil {
		return err
	}
	beats := time.NewTicker(v.Every)
	defer beats.Stop()
	for {
		var next func() error
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-beats.C:
			next = v.Beat
		case change, open := <-changes:
			if !open {
				return context.Canceled
			}
			next = func() error { return w.handleChange(ctx, change) }
		}
		if err := mayWatch(v.Who(), refs); err != nil {
			return err
		}
		if err := next(); err != nil {
			return err
		}
	}
}

// mayWatch refuses a principal that may see nothing; named clusters are checked one by one.
func mayWatch(p policy.Principal, refs []string) error {
	if len(refs) == 0 && len(p.Seats) == 0 {
		return noRoleError(p)
	}
	return nil
}

// Changes tells that something of a cluster may have changed, or of any if cluster is empty. It says no more than ids: what changed is
// read again, with the reader's rights. The channel is closed by stop, and when ctx is done or the store is closed.
func (s *Service) Changes(ctx context.Context, cluster string) (changes <-chan db.Change, stop func()) {
	if cluster == "" {
		return s.store.Follow(ctx)
	}
	return s.store.Follow(ctx, cluster)
}

// watching is one running watch.
type watching struct {
	service *Service
	ids     []string // none: all live ones
	view    View
	shown   map[string]look
}

// look is a cluster's version and progress when it was last shown.
type look struct {
	version  int64
	progress lifecycle.Progress
}

func (w *watching) handleChange(ctx context.Context, change db.Change) error {
	if change.All {
		return w.showAll(ctx)
	}
	return w.showEach(ctx, change.Clusters)
}

// showAll shows every cluster that changed since it was shown.
func (w *watching) showAll(ctx context.Context) error {
	if len(w.ids) > 0 {
		return w.showEach(ctx, w.ids)
	}
	who := w.view.Who()
	f := visibleFilter(who)
	var err error
	if f.Query, err = w.service.ReadFilter(ctx, who, w.view.Filter); err != nil {
		return err
	}
	for f.Live, f.Limit = true, pageOfWatch; ; {
		rows, next, err := w.service.store.List(ctx, f)
		if err != nil {
			return fmt.Errorf("list clusters: %w", err)
		}
		for _, row := range rows {
			if err := w.showCluster(row); err != nil {
				return err
			}
		}
		if f.Cursor = next; next == "" {
			return nil
		}
	}
}

// showEach shows the clusters that may be seen now; a cluster whose share or role was lost is left out silently.
func (w *watching) showEach(ctx context.Context, ids []string) error {
	for _, id := range ids {
		row, err := w.service.Cluster(ctx, w.view.Who(), id)
		var said *Error
		if errors.As(err, &said) {
			delete(w.shown, id)
			continue
		}
		if err == nil {
			err = w.showSelected(ctx, row)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// showSelected shows a cluster that the filter selects, and one that was shown and is no longer selected.
func (w *watching) showSelected(ctx context.Context, row clusters.Row) error {
	if w.view.Filter == "" {
		return w.showCluster(row)
	}
	who := w.view.Who()
	q, err := w.service.ReadFilter(ctx, who, w.view.Filter)
	if err != nil {
		return err
	}
	rows, _, err := w.service.store.List(ctx, store.Filter{ID: row.ID, Query: q, Limit: 1})
	if err != nil {
		return fmt.Errorf("look whether the filter selects %s: %w", row.ID, err)
	}
	if _, shown := w.shown[row.ID]; len(rows) == 0 && !shown {
		return nil
	}
	err = w.showCluster(row)
	if len(rows) == 0 {
		delete(w.shown, row.ID)
	}
	return err
}

func (w *watching) showCluster(row clusters.Row) error {
	now := look{row.Version, row.Progress}
	if before, known := w.shown[row.ID]; known && before == now {
		return nil
	}
	w.shown[row.ID] = now
	if row.Phase == lifecycle.Released {
		delete(w.shown, row.ID) // no change follows
	}
	return w.view.Show(row)
}
