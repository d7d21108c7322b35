package credentials

import (
	"context"
	"errors"
	"fmt"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store/access"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
)

// SignInToConsole returns the access with which the principal signs in to a cluster's console through ocpctl, after the sign-in was recorded. A
// principal whom no access was made for gets an error of the kind Conflict, and one whose right was withdrawn is refused.
func (s *Service) SignInToConsole(ctx context.Context, p policy.Principal, row clusters.Row, origin app.Origin) (access.Row, error) {
	given, err := s.store.Access.OpenIDOf(ctx, row.ID, p.ID)
	if errors.Is(err, db.ErrNotFound) {
		return given, app.Fail(app.Conflict, fmt.Sprintf("You have no access to the console of %s, or yours has ended. Press Open console, and sign in to the console again.", row.Name))
	}
	if err != nil {
		return given, err
	}
	row, _, origin, err = s.core.AuthorizeAccess(ctx, p, row.ID, policy.ClusterRole(given.Role), origin)
	if err == nil {
		err = s.core.CheckReachable(ctx, row)
	}
	if err != nil {
		return given, err
	}
	by := s.core.StoreOrigin(origin, p)
	err = s.store.Audit(ctx, by, "console.signed_in", row.ID, map[string]any{
		"verdict": by.Verdict, "access": given.ID, "role": given.Role, "account": given.Account, "expiresAt": given.ExpiresAt,
	})
	if err != nil {
		return given, fmt.Errorf("record the sign-in: %w", err)
	}
	return given, nil
}

// IsConsoleOpen reports whether an access of a cluster's console can be used now.
func (s *Service) IsConsoleOpen(ctx context.Context, cluster, id string) (access.Row, bool, error) {
	given, err := s.store.Access.One(ctx, cluster, id)
	if errors.Is(err, db.ErrNotFound) {
		return given, false, nil
	}
	return given, err == nil && given.OpenID && given.State == access.Ready, err
}
