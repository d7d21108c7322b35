package app

import (
	"context"
	"errors"
	"fmt"

	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/profiles"
	"github.com/ocpctl/ocpctl/store"
)

// The kinds of share.
const (
	ShareTeam      = "team"
	SharePrincipal = "principal"
)

// Shares returns the shares of a cluster that the principal may see.
func (d *Service) Shares(ctx context.Context, p policy.Principal, ref string) ([]store.Share, error) {
	row, err := d.Seen(ctx, p, ref)
	if err != nil {
		return nil, err
	}
	return d.shares(ctx, row)
}

func (d *Service) shares(ctx context.Context, row store.Row) ([]store.Share, error) {
	list, err := d.store.Shares(ctx, row.ID)
	if err != nil {
		return nil, fmt.Errorf("read shares: %w", err)
	}
	return list, nil
}

// Share gives a team or a principal access to a cluster; a second call changes the access. It returns all the cluster's shares.
func (d *Service) Share(ctx context.Context, p policy.Principal, ref string, share store.Share, origin Origin) ([]store.Share, error) {
	row, origin, err := d.Authorize(ctx, p, ref, policy.ActShare, origin)
	if err != nil {
		return nil, err
	}
	if share.Access == "" {
		share.Access = store.AccessSee
	}
	if wrong := d.wrongShare(share, row); len(wrong) > 0 {
		return nil, &Error{Kind: Invalid, Message: chatops.CannotShare, Fields: wrong}
	}
	err = d.store.Share(ctx, row.ID, share, d.StoreOrigin(origin, p))
	if _, err := d.after(ctx, row, err, chatops.EndedMeanwhile(row.Name, policy.ActShare)); err != nil {
		return nil, err
	}
	return d.shares(ctx, row)
}

func (d *Service) wrongShare(s store.Share, row store.Row) (wrong []Field) {
	if s.Access != store.AccessSee && s.Access != store.AccessUse {
		wrong = append(wrong, ProblemOf("access", chatops.UnknownAccess(string(s.Access), string(store.AccessSee), string(store.AccessUse))))
	}
	_, known, declared := d.catalogue().Team(s.Grantee)
	switch {
	case s.Kind != ShareTeam && s.Kind != SharePrincipal:
		wrong = append(wrong, ProblemOf("kind", chatops.UnknownGrantee(s.Kind, ShareTeam, SharePrincipal)))
	case s.Kind == ShareTeam && s.Grantee == row.Team:
		wrong = append(wrong, ProblemOf("with", chatops.SharedWithOwnTeam))
	case s.Kind == ShareTeam && (declared && !known || !profiles.TeamName(s.Grantee)):
		wrong = append(wrong, ProblemOf("with", chatops.UnknownShareTeam(s.Grantee)))
	case s.Kind == SharePrincipal && (s.Grantee == "" || len(s.Grantee) > maxPrincipal):
		wrong = append(wrong, ProblemOf("with", chatops.UnknownSharePerson))
	}
	return wrong
}

// maxPrincipal is the most bytes of a principal's id.
const maxPrincipal = 500

// Unshare removes a share and returns the remaining ones. The principal that it was for may remove it too.
func (d *Service) Unshare(ctx context.Context, p policy.Principal, ref, kind, grantee string, origin Origin) ([]store.Share, error) {
	act := policy.ActShare
	if kind == SharePrincipal && grantee == p.ID {
		act = policy.ActSee
	}
	row, origin, err := d.Authorize(ctx, p, ref, act, origin)
	if err != nil {
		return nil, err
	}
	err = d.store.Unshare(ctx, row.ID, kind, grantee, d.StoreOrigin(origin, p))
	if errors.Is(err, store.ErrNotFound) {
		return nil, Fail(NotFound, chatops.NotShared(row.Name, kind, grantee))
	}
	if err != nil {
		return nil, fmt.Errorf("stop sharing: %w", err)
	}
	return d.shares(ctx, row)
}
