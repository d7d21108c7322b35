package pulls

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/profiles"
	"github.com/ocpctl/ocpctl/store"
)

// syncHead follows the pull request to its newest commit: the checks move there, and a push does to the clusters what the
// repository's file says.
func (d *Service) syncHead(ctx context.Context, e PullRequestEvent) ([]string, error) {
	if e.PR.Head == "" || !e.PR.Open {
		return nil, nil
	}
	newest, err := d.newest(ctx, e.PR.Repo, e.PR.Number)
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(newest, func(r store.Row) bool { return r.Desired == lifecycle.Present }) { // also when it returns to its first head
		if err := d.store.FollowHead(ctx, e.PR.Repo, e.PR.Number, e.PR.Head); err != nil {
			return nil, fmt.Errorf("follow the head: %w", err)
		}
	}
	newest = slices.DeleteFunc(newest, func(r store.Row) bool { return r.PR == nil || r.PR.Head == e.PR.Head })
	if e.Action != ActionSynchronize || e.Actor == "" || len(newest) == 0 {
		return nil, nil
	}
	file, wrong, err := d.file(ctx, e.PR)
	switch {
	case err != nil:
		return nil, err
	case wrong != nil, file == nil, file.Synchronize == "", file.Synchronize == profiles.SynchronizeKeep:
		return nil, nil
	}
	// The author of a pull request from a fork can push to it, and may do nothing else here.
	request, err := d.request(ctx, policy.SourceComment, e.PR, actor{e.Actor, e.ActorID})
	switch {
	case err != nil:
		return nil, err
	case !may(request):
		return []string{fmt.Sprintf("kept as they are: %s pushed and has %s permission", e.Actor, request.Permission)}, nil
	case file.Synchronize == profiles.SynchronizeRefresh:
		return d.refreshed(ctx, e, request, newest)
	}
	return d.recreate(ctx, e, request, newest)
}

// newest returns the newest cluster of each profile that a pull request has or had.
func (d *Service) newest(ctx context.Context, repo string, number int) ([]store.Row, error) {
	rows, _, err := d.store.List(ctx, store.Filter{Repo: repo, Number: number, Limit: 500})
	if err != nil {
		return nil, fmt.Errorf("list clusters of %s#%d: %w", repo, number, err)
	}
	slices.SortStableFunc(rows, func(a, b store.Row) int {
		return cmp.Or(cmp.Compare(a.Profile, b.Profile), cmp.Compare(b.Generation, a.Generation))
	})
	return slices.CompactFunc(rows, func(a, b store.Row) bool { return a.Profile == b.Profile }), nil
}

// recreate ends the clusters of older commits and requests new ones on behalf of whoever pushed, judged like any request. A
// cluster that was ended for this push and has no successor, because the process died in between, gets it now. A cluster that
// the push may not end, because it was transferred to another team, stays.
func (d *Service) recreate(ctx context.Context, e PullRequestEvent, request policy.Request, newest []store.Row) (notes []string, err error) {
	why := chatops.ShortSHA(e.PR.Head) + " was pushed, and the repository's file says " + profiles.SynchronizeRecreate
	for _, row := range newest {
		ending := !row.Ends.PRClosed.IsZero() || !row.Ends.LabelRemoved.IsZero()
		goes := row.Desired == lifecycle.Present && !ending
		if !goes && row.DesiredWhy != why {
			continue
		}
		w, err := d.successor(ctx, e, row) // before it ends: if the successor cannot be requested yet, nothing ends
		if err != nil {
			return nil, err
		}
		if goes {
			origin := app.Origin{Source: policy.Source(row.Source), Why: why, Repository: &request}
			if _, _, err := d.core.Authorize(ctx, request.Principal, row.ID, policy.ActDestroy, origin); app.KindOf(err) != "" {
				notes = append(notes, row.Name+" is kept as it is: "+err.Error())
				continue
			} else if err != nil {
				return nil, err
			}
			if err := d.leaveLabel(ctx, row); err != nil {
				return nil, err
			}
			if _, _, err := d.core.Destroy(ctx, request.Principal, row.ID, origin); err != nil {
				return nil, err
			}
		}
		note, err := d.again(ctx, e, w)
		if err != nil {
			return nil, err
		}
		notes = append(notes, row.Name+" goes: "+why+"; "+note)
	}
	if len(notes) == 0 {
		return nil, nil
	}
	settled, err := d.settle(ctx, e.PR.Repo, e.PR.Number, e.Actor)
	return append(notes, settled...), err
}

// leaveLabel keeps the end of a replaced cluster from removing the label: only its successor's end or refusal does that.
func (d *Service) leaveLabel(ctx context.Context, row store.Row) error {
	places, err := d.store.Subscribers(ctx, row.ID)
	if err != nil {
		return fmt.Errorf("look for the label of %s: %w", row.ID, err)
	}
	for _, place := range places {
		if place.Kind == store.KindLabel {
			return d.store.Mute(ctx, place.ID)
		}
	}
	return nil
}

// successor returns the request for the next generation of a cluster that a push ends.
func (d *Service) successor(ctx context.Context, e PullRequestEvent, row store.Row) (app.ClusterRequest, error) {
	request, err := d.request(ctx, policy.Source(row.Source), e.PR, actor{e.Actor, e.ActorID})
	if err != nil {
		return app.ClusterRequest{}, err
	}
	w, err := d.alike(ctx, request, e.PR, row)
	if err != nil {
		return app.ClusterRequest{}, err
	}
	w.Request.Generation = row.Generation + 1
	// A head may be pushed again later: that is another request.
	key := fmt.Sprintf("push:%s#%d:%s:%s:%d", e.PR.Repo, e.PR.Number, row.Profile, e.PR.Head, w.Request.Generation)
	w.Actor, w.Key, w.Cause, w.AskedAt = e.Actor, key, key, e.PR.UpdatedAt
	if label := chatops.LabelPrefix + row.Profile; row.Source == string(policy.SourceLabel) || slices.Contains(e.PR.Labels, label) {
		w.Label, w.OnRefusal = label, []store.Effect{unlabel(e.PR, label, key)}
	}
	return w, nil
}

// again requests the next generation of a cluster that a push ended.
func (d *Service) again(ctx context.Context, e PullRequestEvent, w app.ClusterRequest) (note string, err error) {
	made, err := d.core.CreateFrom(ctx, w)
	switch {
	case app.KindOf(err) != "":
		for _, effect := range w.OnRefusal {
			if err := d.store.SaveEffect(ctx, effect); err != nil {
				return "", fmt.Errorf("take the label off: %w", err)
			}
		}
		return err.Error(), d.say(ctx, e.PR, w.Key, chatops.Said(err.Error(), e.Actor))
	case err != nil:
		return "", err
	case made.Row.ID == "":
		return refusedNote(w.Request.Profile, made.Verdict), nil
	}
	if len(w.OnRefusal) > 0 && made.Row.Source != string(policy.SourceLabel) {
		if err := d.store.ShowByLabel(ctx, made.Row.ID); err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("accepted %s as %s", w.Request.Profile, made.Row.ID), d.keepNew(ctx, e.PR, w.Request, made.Row)
}

// refreshed applies the add-ons of the clusters of older commits again, once for each head. A cluster that is not ready yet gets
// them with its install.
func (d *Service) refreshed(ctx context.Context, e PullRequestEvent, request policy.Request, newest []store.Row) (notes []string, err error) {
	why := fmt.Sprintf("%s was pushed, and the repository's file says %s", chatops.ShortSHA(e.PR.Head), profiles.SynchronizeRefresh)
	for _, row := range newest {
		if row.Desired != lifecycle.Present {
			continue
		}
		_, job, err := d.core.Refresh(ctx, request.Principal, row.ID, app.Origin{Source: request.Source, Why: why, Cause: "push:" + e.PR.Head, Repository: &request})
		switch {
		case app.KindOf(err) != "":
			notes = append(notes, row.Name+" is kept as it is: "+err.Error())
		case err != nil:
			return nil, err
		default:
			notes = append(notes, fmt.Sprintf("%s: its add-ons are applied again: %s (job %s)", row.Name, why, job))
		}
	}
	return notes, nil
}
