package notifier

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/chatops/blocks"
	"github.com/ocpctl/ocpctl/chatops/slack"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/profiles"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/notices"
)

// alone are the kinds that are never posted in a digest: each asks one person something, or is long by itself.
var alone = map[string]bool{string(blocks.HandoverAsk): true, string(blocks.Weekly): true}

// sight is what a notice is about, as it is now.
type sight struct {
	row      clusters.Row      // zero: it is about no cluster
	approval clusters.Approval // that it is about; zero: it is about none
	again    store.Successor   // the cluster that was requested again in place of row; zero: there is none
	names    map[string]string // of those who did something about it, by principal
}

// nameAll names people.
func (s sight) nameAll(principals ...string) string {
	var all []string
	for _, id := range principals {
		all = append(all, cmp.Or(s.names[id], profiles.UnlinkedName(id)))
	}
	return strings.Join(all, " and ")
}

// listVoters are those who voted so for the notice's approval.
func (s sight) listVoters(approves bool) (all []string) {
	for _, v := range s.approval.Votes {
		if v.Approves == approves {
			all = append(all, v.Principal)
		}
	}
	return all
}

// sights reads each thing once.
type sights struct {
	store *store.Store
	known map[string]sight // by cluster and approval
}

func newSights(s *store.Store) *sights { return &sights{s, map[string]sight{}} }

func (s *sights) sightOf(ctx context.Context, n notices.Notice) (sight, error) {
	f := factsOf(n)
	key := n.Cluster + " " + f.Approval
	if known, ok := s.known[key]; ok {
		return known, nil
	}
	now, err := s.readSight(ctx, n.Cluster, f.Approval)
	if err == nil {
		s.known[key] = now
	}
	return now, err
}

// readSight reads a cluster and an approval; an empty id means none.
func (s *sights) readSight(ctx context.Context, cluster, approval string) (now sight, err error) {
	var people []string
	if cluster != "" {
		if now.row, err = s.store.Cluster(ctx, cluster); err != nil {
			return now, err
		}
	}
	if now.row.ReplacedBy != "" {
		made, err := s.store.Successors(ctx, cluster)
		if err != nil {
			return now, err
		}
		now.again = made[cluster]
		people = append(people, now.again.By)
	}
	if approval != "" {
		if now.approval, err = s.store.Approval(ctx, approval); err != nil && !errors.Is(err, db.ErrNotFound) {
			return now, err
		}
		for _, v := range now.approval.Votes {
			people = append(people, v.Principal)
		}
	}
	if len(people) > 0 {
		now.names, err = s.store.People.ShownNames(ctx, people...)
		return now, err
	}
	return now, nil
}

// factsOf decodes a notice's facts. Facts that are none tell nothing.
func factsOf(n notices.Notice) (f blocks.Facts) {
	if json.Unmarshal(n.Facts, &f) != nil {
		return blocks.Facts{}
	}
	return f
}

// whyOutdated says why a notice is not posted any more; empty: it is still true.
func whyOutdated(n notices.Notice, s sight, now time.Time) string {
	f, row := factsOf(n), s.row
	goes := row.Desired == lifecycle.Absent
	switch kind := blocks.Event(n.Kind); {
	case now.Sub(n.CreatedAt) > tooOld:
		return "it is older than a day"
	case kind == blocks.Expiring && !row.DestroyAt.Equal(f.End):
		return "the cluster's end moved"
	case kind == blocks.Expiring && (goes || !now.Before(f.End)), kind == blocks.Ready && goes:
		return "the cluster is no longer wanted"
	case kind == blocks.Resting && (goes || !now.Before(f.End) || row.AwakeUntil.After(f.End)):
		return "the cluster does not fall asleep then"
	case kind == blocks.Idle && (goes || row.UnusedSince().After(f.Since)):
		return "the cluster was used, or is no longer wanted"
	case kind == blocks.Blocked && row.Status == lifecycle.Destroyed:
		return "the cluster is gone"
	case kind == blocks.Approval && s.approval.State != clusters.ApprovalPending:
		return "the approval is no longer pending"
	}
	return ""
}

// currentFacts are a notice's facts with what is true now, so that no button promises what it cannot do.
func currentFacts(n notices.Notice, s sight) blocks.Facts {
	f, row := factsOf(n), s.row
	if f.Done != "" {
		return f
	}
	goes := row.Desired == lifecycle.Absent
	switch blocks.Event(n.Kind) {
	case blocks.Expiring:
		switch {
		case goes:
			f.Done = "Its teardown began: " + row.DesiredWhy.String() + "."
		case row.DestroyAt.After(f.End):
			f.Done = "It was extended to " + formatClock(row.DestroyAt) + "."
		case !row.DestroyAt.Equal(f.End):
			f.Done = "Its end moved to " + formatClock(row.DestroyAt) + "."
		default:
			f.Longest = longestExtension(row.Cluster)
		}
	case blocks.Resting:
		switch {
		case goes:
			f.Done = "Its teardown began: " + row.DesiredWhy.String() + "."
		case row.AwakeUntil.After(f.End):
			f.Done = "It stays awake until " + formatClock(row.AwakeUntil) + "."
		}
	case blocks.Idle:
		switch {
		case goes:
			f.Done = "Its teardown began: " + row.DesiredWhy.String() + "."
		case row.UnusedSince().After(f.Since):
			f.Done = "It was used again: " + string(row.ActiveWhat) + "."
		}
	case blocks.Ready:
		if goes {
			f.Done = "Its teardown began: " + row.DesiredWhy.String() + "."
		}
	case blocks.Blocked:
		if row.Status == lifecycle.Destroyed {
			f.Done = "Nothing is left of it."
		}
	case blocks.Failed:
		switch {
		case s.again.Name != "":
			f.Done, f.Who = fmt.Sprintf("It was requested again as `%s`.", s.again.Name), s.nameAll(s.again.By)
		case row.ReplacedBy != "":
			f.Done = fmt.Sprintf("`%s` replaces it.", row.ReplacedBy)
		}
	case blocks.Approval:
		f.Done = decided[s.approval.State]
		switch s.approval.State {
		case clusters.ApprovalPending:
			if s.approval.Needs > 1 {
				f.Voters = s.listVoters(true)
				for i, id := range f.Voters {
					f.Voters[i] = s.nameAll(id)
				}
			}
		case clusters.ApprovalApproved:
			f.Who = s.nameAll(s.listVoters(true)...)
		case clusters.ApprovalRefused:
			f.Who = s.nameAll(s.listVoters(false)...)
		}
	}
	return f
}

// decided says what became of an approval, by its state.
var decided = map[clusters.ApprovalState]string{
	clusters.ApprovalApproved: "It was approved.",
	clusters.ApprovalRefused:  "It was refused.",
	clusters.ApprovalExpired:  "Nobody decided in time.",
	clusters.ApprovalVoid:     "It is no longer needed.",
	clusters.ApprovalUsed:     "It was approved, and used.",
}

func formatClock(t time.Time) string { return t.UTC().Format("15:04 UTC on Monday, 2 January") }

// renderNotices returns the message that tells notices of one kind.
func (n *Notifier) renderNotices(ctx context.Context, seen *sights, list []notices.Notice) (slack.Message, error) {
	var all []blocks.NoticeView
	for _, one := range list {
		s, err := seen.sightOf(ctx, one)
		if err != nil {
			return slack.Message{}, err
		}
		all = append(all, blocks.NoticeView{
			Event: blocks.Event(one.Kind), ID: one.ID, Card: s.row.Card, Links: n.Links, Mention: one.Mention, Facts: currentFacts(one, s), Approval: s.row.Spec.Approval,
		})
	}
	view := all[0]
	view.More = all[1:]
	return blocks.Notice(view), nil
}
