package admin

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/chatops/messages"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/outbox"
)

// EnsureLabels asks to create all our labels in a repository, with their colours and descriptions: only for platform admins. It
// returns the change's id, for Labels; a worker makes the change.
func (s *Service) EnsureLabels(ctx context.Context, p policy.Principal, repo string, origin app.Origin) (effect string, err error) {
	if err := app.MayForEverybody(p, policy.ActCatalogue, "create labels in a repository"); err != nil {
		return "", err
	}
	if origin, err = app.CheckReason(origin, false); err != nil {
		return "", err
	}
	if owner, name, _ := strings.Cut(repo, "/"); !app.IsRepositoryName(owner) || !app.IsRepositoryName(name) {
		return "", &app.Error{Kind: app.Invalid, Message: "This is not the name of a repository.", Fields: []app.Field{app.ProblemOf("repository", messages.Problem{fmt.Sprintf("%.100q", repo), []string{"owner/name, as on GitHub"}})}}
	}
	if s.core.OwnershipOf(repo).Team == "" {
		return "", app.Fail(app.NotFound, fmt.Sprintf("The server's configuration has no entry for the repository %q. Name a repository that has one, as owner/name.", repo))
	}
	installation, err := s.findInstallation(ctx, repo)
	if err != nil {
		return "", err
	}
	state, err := s.store.Outbox.AskEffect(ctx, clusters.Effect{
		Cause: "labels:" + origin.IdempotencyKey(p), Kind: outbox.EffectEnsureLabels, Installation: installation, Repo: repo,
	}, s.core.StoreOrigin(origin, p), "labels_asked")
	if err != nil {
		return "", fmt.Errorf("request labels: %w", err)
	}
	if state.Repo != repo {
		return "", app.Fail(app.Conflict, fmt.Sprintf("This Idempotency-Key was already used for the labels of %s. Use a new key.", state.Repo))
	}
	return state.ID, nil
}

// Labels returns the state of a change that EnsureLabels asked for.
func (s *Service) Labels(ctx context.Context, p policy.Principal, id string) (outbox.EffectState, error) {
	if err := app.MayForEverybody(p, policy.ActCatalogue, "see the state of a label change"); err != nil {
		return outbox.EffectState{}, err
	}
	state, err := s.store.Outbox.EffectState(ctx, id)
	if errors.Is(err, db.ErrNotFound) || err == nil && state.Kind != outbox.EffectEnsureLabels {
		return outbox.EffectState{}, app.Fail(app.NotFound, fmt.Sprintf("The label change %q does not exist. Finished ones are deleted after a while. Request the labels again; correct labels are not changed.", id))
	}
	if err != nil {
		return outbox.EffectState{}, fmt.Errorf("read the state of labels: %w", err)
	}
	return state, nil
}

// findInstallation returns the App's installation on a repository; 0: this process has no access to GitHub, so the worker finds out.
func (s *Service) findInstallation(ctx context.Context, repo string) (int64, error) {
	if s.github == nil {
		return 0, nil
	}
	installation, err := s.github.InstallationOf(ctx, repo)
	if err != nil {
		return 0, fmt.Errorf("ask for the App's installation on %s: %w", repo, err)
	}
	if installation == 0 {
		return 0, app.Fail(app.NotFound, fmt.Sprintf("The App is not installed on %s. Install it there first.", repo))
	}
	return installation, nil
}
