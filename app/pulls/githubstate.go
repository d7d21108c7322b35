package pulls

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/pullrequests"
)

const (
	// maxClockSkew is how far ahead of our clock a payload's updated_at may be. A later time is not believed.
	maxClockSkew = 5 * time.Minute
	// lagsFor is how long GitHub's API may lag behind the webhooks it sent. Until then an older answer is asked for again.
	lagsFor = time.Minute
)

// errNoAnswer means that GitHub could not be asked for a pull request's state, or shows us no such pull request.
var errNoAnswer = errors.New("no usable answer from GitHub")

// confirmState finds out the pull request's current state. A payload is a hint: it says which pull request to ask GitHub about, and
// who did what. GitHub's answer is the state that counts and the only one that is stored. GitHub is not asked about a pull
// request that does not concern us.
func (s *Service) confirmState(ctx context.Context, e PullRequestEvent) (PullRequestEvent, error) {
	if e.Action == ActionSeen {
		return s.confirmLook(ctx, e)
	}
	if found, err := s.findRenamed(ctx, &e); found || err != nil {
		return e, err
	}
	known, err := s.store.PullRequests.PullRequest(ctx, e.PR.Repo, e.PR.Number)
	if errors.Is(err, db.ErrNotFound) {
		gated, err := s.store.Outbox.HasGate(ctx, e.PR.Repo, e.PR.Head)
		if e.hint = err == nil && !gated && !e.concernsUs(); e.hint || err != nil {
			return e, err
		}
	} else if err != nil {
		return e, fmt.Errorf("read pull request: %w", err)
	}
	believed, now, err := s.isBelievable(ctx, e)
	if err != nil {
		return e, err
	}
	e.late = believed && e.PR.UpdatedAt.Before(known.UpdatedAt)
	pr, err := s.askTruth(ctx, e.PR)
	if err != nil {
		return e, err
	}
	switch {
	case !believed:
		e.as.UpdatedAt, e.at = pr.UpdatedAt, fmt.Sprint(pr.UpdatedAt.Unix())
	case pr.UpdatedAt.Before(e.as.UpdatedAt) && now.Sub(e.as.UpdatedAt) < lagsFor:
		return e, fmt.Errorf("GitHub's answer on %s#%d is of %s and older than its webhook; it is asked again",
			pr.Repo, pr.Number, pr.UpdatedAt.UTC().Format(time.RFC3339))
	}
	e.PR = pr
	return e, nil
}

// concernsUs reports whether the event involves one of our labels.
func (e PullRequestEvent) concernsUs() bool {
	return isOurLabel(e.Label) || slices.ContainsFunc(e.PR.Labels, isOurLabel)
}

// isBelievable reports whether the payload's time can be true.
func (s *Service) isBelievable(ctx context.Context, e PullRequestEvent) (believed bool, now time.Time, err error) {
	now, err = s.store.Now(ctx)
	if err != nil {
		return false, now, fmt.Errorf("read the clock: %w", err)
	}
	return e.PR.UpdatedAt.Sub(now) <= maxClockSkew, now, nil
}

// confirmLook is stands for a state that GitHub returned to a check of ours. Of two such states the newer counts. GitHub's clock has
// whole seconds, so of two that differ within one second neither is newer, and GitHub is asked.
func (s *Service) confirmLook(ctx context.Context, e PullRequestEvent) (PullRequestEvent, error) {
	if found, err := s.findRenamed(ctx, &e); found || err != nil {
		return e, err
	}
	seen, err := s.store.PullRequests.PullRequest(ctx, e.PR.Repo, e.PR.Number)
	switch {
	case err != nil && !errors.Is(err, db.ErrNotFound):
		return e, fmt.Errorf("read pull request: %w", err)
	case err == nil && e.PR.UpdatedAt.Before(seen.UpdatedAt):
		e.PR, e.late = seen, true
		return e, nil
	case err == nil && e.PR.UpdatedAt.Equal(seen.UpdatedAt) && statesDiffer(seen, e.PR):
		e.PR, err = s.askTruth(ctx, e.PR)
		return e, err
	}
	fresh, err := s.store.PullRequests.SeePullRequest(ctx, e.PR, false)
	if err != nil {
		return e, fmt.Errorf("remember pull request: %w", err)
	}
	if !fresh { // a newer state was stored in between
		e.late = true
	}
	if e.PR, err = s.store.PullRequests.PullRequest(ctx, e.PR.Repo, e.PR.Number); err != nil {
		return e, fmt.Errorf("read pull request again: %w", err)
	}
	return e, nil
}

// findRenamed finds out the state of a pull request whose repository is known under another name. No payload says which of the two
// names is newer, so GitHub is asked by both.
func (s *Service) findRenamed(ctx context.Context, e *PullRequestEvent) (found bool, err error) {
	known, err := s.store.PullRequests.PullRequestElsewhere(ctx, e.PR)
	if errors.Is(err, db.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	got := e.PR
	if e.PR, err = s.askTruth(ctx, got); err != nil || e.PR.RepoID != known.RepoID { // the name may be another repository's
		e.PR, err = s.askTruth(ctx, known)
	}
	e.late = got.UpdatedAt.Before(e.PR.UpdatedAt)
	return true, err
}

// statesDiffer reports whether two states of one second differ.
func statesDiffer(a, b pullrequests.PullRequest) bool {
	sorted := func(labels []string) []string { return slices.Sorted(slices.Values(labels)) }
	return a.Open != b.Open || a.Head != b.Head || a.Base != b.Base || b.HeadRef != "" && a.Draft != b.Draft || !slices.Equal(sorted(a.Labels), sorted(b.Labels))
}

// askTruth asks GitHub for a pull request's current state. Its answer counts unless a newer one was stored before.
func (s *Service) askTruth(ctx context.Context, known pullrequests.PullRequest) (pullrequests.PullRequest, error) {
	pr, err := s.github.PullRequest(ctx, known.Installation, known.Repo, known.Number)
	if err != nil {
		return pr, fmt.Errorf("ask pull request %s#%d: %w: %w", known.Repo, known.Number, errNoAnswer, err)
	}
	pr.Labels = mapLabels(pr.Labels, lowerOurLabel)
	if _, err := s.store.PullRequests.SeePullRequest(ctx, pr, true); err != nil {
		return pr, fmt.Errorf("remember pull request: %w", err)
	}
	if pr, err = s.store.PullRequests.PullRequest(ctx, pr.Repo, pr.Number); err != nil {
		return pr, fmt.Errorf("read pull request again: %w", err)
	}
	return pr, nil
}

// endByPayload does what a signed payload can decide alone while GitHub cannot be asked: if it says that the pull request was
// closed, or that a person removed one of our labels, the clusters of that pull request get an end, after their grace. GitHub's
// next answer lifts it if it says otherwise. Anything else waits for GitHub, which failed with err.
func (s *Service) endByPayload(ctx context.Context, e PullRequestEvent, err error) (note string, _ error) {
	closed, unlabeled := !e.PR.Open, e.Action == ActionUnlabeled && isOurLabel(e.Label)
	if !errors.Is(err, errNoAnswer) || e.Action == ActionSeen || !closed && !unlabeled {
		return "", err
	}
	if may, failed := s.mayEndByPayload(ctx, e); !may || failed != nil {
		return "", errors.Join(err, failed)
	}
	live, failed := s.listLive(ctx, e.PR.Repo, e.PR.Number)
	if failed != nil || len(live) == 0 { // a cluster may be on its way, and needs this event later
		return "", errors.Join(err, failed)
	}
	if unlabeled && !closed {
		if e.own, failed = s.isOurOwnChange(ctx, e); failed != nil {
			return "", errors.Join(err, failed)
		}
	}
	var notes []string
	for _, row := range live {
		said, failed := s.endOneByPayload(ctx, row, e)
		if failed != nil {
			return "", failed
		}
		notes = append(notes, said...)
	}
	return "GitHub could not be asked, so the payload alone decided: " + nothingOr(notes), nil
}

// mayEndByPayload reports whether a payload can be true, and is not older than GitHub's last answer.
func (s *Service) mayEndByPayload(ctx context.Context, e PullRequestEvent) (bool, error) {
	believed, _, err := s.isBelievable(ctx, e)
	if !believed || err != nil {
		return false, err
	}
	known, err := s.store.PullRequests.PullRequest(ctx, e.PR.Repo, e.PR.Number)
	if errors.Is(err, db.ErrNotFound) {
		return true, nil
	}
	sameRepo := known.RepoID == e.PR.RepoID || known.RepoID*e.PR.RepoID == 0
	return sameRepo && !e.PR.UpdatedAt.Before(known.UpdatedAt), err
}

// endOneByPayload sets the ends of one cluster that follow from a payload. It lifts none.
func (s *Service) endOneByPayload(ctx context.Context, row clusters.Row, e PullRequestEvent) (notes []string, err error) {
	if !e.PR.Open && row.Ends.PRClosed.IsZero() {
		said, err := s.setEnd(ctx, row, clusters.EndPRClosed, whyClosed(e, row), e.actorOf())
		if err != nil {
			return nil, err
		}
		notes = append(notes, said)
	}
	if e.Action != ActionUnlabeled || !row.Ends.LabelRemoved.IsZero() {
		return notes, nil
	}
	returning, err := s.isReturning(ctx, e, row)
	if err != nil || !isUnlabeled(e, row, returning) {
		return notes, err
	}
	said, err := s.setEnd(ctx, row, clusters.EndLabelRemoved, lifecycle.Reason{Code: lifecycle.ReasonLabelRemoved}, e.actorOf())
	return append(notes, said), err
}
