package pulls

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/profiles"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/outbox"
)

// round says how much is decided about a pull request.
type round int

const (
	firstRound  round = iota // its state and, if the clusters follow it already, what people ask for
	secondRound              // what people ask for, on the clusters that the first round changed
	endsOnly                 // ends and approvals
)

// facts are what decide needs to know about a pull request.
type facts struct {
	event    PullRequestEvent // as GitHub confirms it
	round    round
	now      time.Time
	clusters []clusters.Row // all that the pull request has or had, newest first

	noDrafts  bool            // it is a draft, and the repository gives drafts no cluster
	hidden    bool            // the App is not installed there, so an open pull request says nothing about its clusters
	returning map[string]bool // labels that we are about to put back
	outdated  map[string]bool // ids of clusters that await approval of another head

	asked *requestFacts // nil: what people ask for is not decided in this round
}

// requestFacts are what decide needs to know about what people ask for.
type requestFacts struct {
	profileNames []string
	profiles     map[string]string // by label, the profile that it names
	draftsDenied bool              // the pull request was made ready for review, and the repository gives drafts no cluster
	refused      map[string]bool   // labels whose request was refused since the late event
	created      map[string]bool   // ids of clusters that this event created before
	push         *pushFacts        // nil: nothing follows from a push
	fileDiffers  bool              // its version of the repository's file differs from the base branch's
	fileErr      error             // why fileDiffers is unknown
	catalogue    bool              // its repository is the one of the catalogue's files, and the event may have changed them
}

// pushFacts are what decide needs to know about a push.
type pushFacts struct {
	mode    string // refresh, recreate or keep
	request policy.Request
}

// liveClusters returns the clusters whose desired state is present.
func (f facts) liveClusters() (rows []clusters.Row) {
	for _, row := range f.clusters {
		if isPresent(row) {
			rows = append(rows, row)
		}
	}
	return rows
}

// newest returns the newest cluster of each profile.
func (f facts) newestClusters() []clusters.Row { return newestOfEach(slices.Clone(f.clusters)) }

// newestOfEach keeps the newest cluster of each profile.
func newestOfEach(rows []clusters.Row) []clusters.Row {
	slices.SortStableFunc(rows, func(a, b clusters.Row) int {
		return cmp.Or(cmp.Compare(a.Profile, b.Profile), cmp.Compare(b.Generation, a.Generation))
	})
	return slices.CompactFunc(rows, func(a, b clusters.Row) bool { return a.Profile == b.Profile })
}

// newestOf returns the newest cluster of a profile; its id is empty if there is none.
func (f facts) newestOf(profile string) clusters.Row {
	for _, row := range f.newestClusters() {
		if row.Profile == profile {
			return row
		}
	}
	return clusters.Row{}
}

// readFacts reads what decide needs to know, once. An answer of GitHub that only some decisions need is asked for only if one
// of those is to be made. What people ask for is left to the second round if the clusters do not follow the state yet.
func (s *Service) readFacts(ctx context.Context, e PullRequestEvent, r round) (f facts, err error) {
	f = facts{event: e, round: r}
	if f.now, err = s.store.Now(ctx); err != nil {
		return f, fmt.Errorf("read the clock: %w", err)
	}
	if f.clusters, err = s.listClusters(ctx, e.PR.Repo, e.PR.Number); err != nil {
		return f, err
	}
	if r != secondRound {
		if err := s.readState(ctx, &f); err != nil {
			return f, err
		}
	}
	if r == secondRound || r == firstRound && len(followState(f)) == 0 {
		f.asked, err = s.readRequests(ctx, f)
	}
	return f, err
}

// listClusters returns the clusters that a pull request has or had, newest first.
func (s *Service) listClusters(ctx context.Context, repo string, number int) ([]clusters.Row, error) {
	var rows []clusters.Row
	for f := (store.Filter{Repo: repo, Number: number, Limit: 500}); ; {
		page, next, err := s.store.List(ctx, f)
		if err != nil {
			return nil, fmt.Errorf("list clusters of %s#%d: %w", repo, number, err)
		}
		if rows = append(rows, page...); next == "" {
			return rows, nil
		}
		f.Cursor = next
	}
}

// listNewest returns the newest cluster of each profile that a pull request has or had.
func (s *Service) listNewest(ctx context.Context, repo string, number int) ([]clusters.Row, error) {
	rows, err := s.listClusters(ctx, repo, number)
	return newestOfEach(rows), err
}

// readState reads the facts about ends and approvals.
func (s *Service) readState(ctx context.Context, f *facts) (err error) {
	live := f.liveClusters()
	if len(live) == 0 {
		return nil
	}
	e := f.event
	if f.noDrafts, err = s.noDrafts(ctx, e.PR); err != nil {
		return err
	}
	if needsVisibility(*f) {
		if f.hidden, err = s.isHidden(ctx, e.PR.Repo); err != nil {
			return err
		}
	}
	f.returning, f.outdated = map[string]bool{}, map[string]bool{}
	for _, row := range live {
		returning, err := s.isReturning(ctx, e, row)
		if err != nil {
			return err
		}
		if returning {
			f.returning[chatops.LabelPrefix+row.Profile] = true
		}
		if !row.NeedsApproval || e.PR.Head == "" {
			continue
		}
		pending, _, err := s.store.Approvals(ctx, store.ApprovalFilter{Cluster: row.ID, State: clusters.ApprovalPending, Kind: clusters.ApproveCreate})
		if err != nil {
			return fmt.Errorf("look for approvals of %s: %w", row.ID, err)
		}
		f.outdated[row.ID] = slices.ContainsFunc(pending, func(a clusters.Approval) bool { return a.Head != "" && a.Head != e.PR.Head })
	}
	return nil
}

// isReturning reports whether we are about to put a cluster's label back, if isUnlabeled depends on that.
func (s *Service) isReturning(ctx context.Context, e PullRequestEvent, row clusters.Row) (bool, error) {
	if !needsReturning(e, row) {
		return false, nil
	}
	return s.store.Outbox.Awaited(ctx, outbox.EffectAddLabel, e.PR.Repo, e.PR.Number, chatops.LabelPrefix+row.Profile)
}

// isHidden reports whether an open pull request says nothing about its cluster: anybody can see it, and the App is no longer
// installed there.
func (s *Service) isHidden(ctx context.Context, repo string) (bool, error) {
	installation, err := s.github.InstallationOf(ctx, repo)
	if err != nil {
		return false, fmt.Errorf("ask for the App's installation on %s: %w", repo, err)
	}
	return installation == 0, nil
}

// readRequests reads the facts about what people ask for.
func (s *Service) readRequests(ctx context.Context, f facts) (*requestFacts, error) {
	asked := &requestFacts{
		profileNames: s.core.ProfileNames(), profiles: map[string]string{}, refused: map[string]bool{}, created: map[string]bool{},
	}
	if !f.event.PR.Open {
		return asked, nil
	}
	var err error
	if needsPush(f) {
		if asked.push, err = s.readPush(ctx, f); err != nil {
			return nil, err
		}
	}
	if err := s.readLabels(ctx, f, asked); err != nil {
		return nil, err
	}
	asked.catalogue = needsFile(f.event) && s.home != "" && strings.EqualFold(f.event.PR.Repo, s.home)
	if needsFile(f.event) && s.core.OwnershipOf(f.event.PR.Repo).Team != "" {
		asked.fileDiffers, asked.fileErr = s.fileDiffers(ctx, f.event.PR)
	}
	return asked, nil
}

// readPush reads what the repository's file says about a push, and who pushed; nil: nothing follows from the push.
func (s *Service) readPush(ctx context.Context, f facts) (*pushFacts, error) {
	e, mode := f.event, profiles.SynchronizeKeep
	file, wrong, err := s.readFile(ctx, e.PR)
	if err != nil {
		return nil, err
	}
	if wrong == nil && file != nil && file.Synchronize != "" {
		mode = file.Synchronize
	}
	if mode == profiles.SynchronizeKeep && !slices.ContainsFunc(olderCommitClusters(f), isUsedByPush) {
		return nil, nil
	}
	// The author of a pull request from a fork can push to it, and may do nothing else here.
	request, err := s.newRequest(ctx, policy.SourceComment, e.PR, e.actorOf())
	if err != nil {
		return nil, err
	}
	return &pushFacts{mode, request}, nil
}

// readLabels reads which clusters the labels stand for.
func (s *Service) readLabels(ctx context.Context, f facts, asked *requestFacts) error {
	e, fileRead := f.event, false
	for _, label := range e.PR.Labels {
		name, ok := profileIn(label)
		profile, known := s.catalogue().Get(name)
		if !ok || !known {
			continue
		}
		asked.profiles[label] = profile.Name
		row := f.newestOf(profile.Name)
		if row.ID != "" && isPresent(row) {
			if row.Source == string(policy.SourceLabel) && setsLabel(e, label) && mustKeep(e.PR, row) {
				made, err := s.store.Made(ctx, e.actorOf().principalID(), e.requestKey(e.PR, row.Profile))
				if err != nil {
					return err
				}
				asked.created[row.ID] = made == row.ID
			}
			continue
		}
		if undraftsLabel(e, label) && !fileRead {
			file, _, err := s.readFile(ctx, e.PR)
			if err != nil {
				return err
			}
			fileRead, asked.draftsDenied = true, file != nil && file.Drafts == profiles.DraftsDeny
		}
		since := e.as.UpdatedAt
		if !e.LabeledAt.IsZero() {
			since = e.LabeledAt
		} else if !e.late {
			continue
		}
		if !asksFor(f.event, asked, label) {
			continue
		}
		var err error
		asked.refused[label], err = s.store.PullRequests.Refused(ctx, string(policy.SourceLabel), e.PR.Repo, e.PR.Number, profile.Name, since)
		if err != nil {
			return err
		}
	}
	return nil
}

// profileIn returns the profile that a label names, known or not.
func profileIn(label string) (name string, ok bool) {
	if label == chatops.KeepLabel || strings.HasPrefix(label, chatops.TTLLabelPrefix) {
		return "", false
	}
	return strings.CutPrefix(label, chatops.LabelPrefix)
}
