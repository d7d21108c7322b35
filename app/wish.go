package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/profiles"
	"github.com/ocpctl/ocpctl/store"
)

// wish is a cluster somebody asked for, before policy judged it.
type wish struct {
	request policy.Request
	pr      store.PullRequest
	actor   string // login
	key     string // idempotency key
	cause   string // what a refusal answers
	line    string // the command as typed; empty: not typed
}

// create judges a wish and writes it with its verdict, granted or refused. The returned row is empty on a refusal,
// which is a result and not an error.
func (d *Desk) create(ctx context.Context, w wish) (store.Row, policy.Verdict, error) {
	asked, err := json.Marshal(w.request)
	if err != nil {
		return store.Row{}, policy.Verdict{}, fmt.Errorf("encode request: %w", err)
	}
	now, err := d.store.Now(ctx)
	if err != nil {
		return store.Row{}, policy.Verdict{}, fmt.Errorf("read the clock: %w", err)
	}
	verdict := policy.Evaluate(w.request, policy.Usage{}, policy.Terms{Catalogue: d.catalogue, Now: now}, d.policy)
	if !verdict.Allowed {
		return store.Row{}, verdict, d.refuse(ctx, w, verdict, asked)
	}
	row, err := d.accept(ctx, w, verdict, asked, now)
	return row, verdict, err
}

func (d *Desk) refuse(ctx context.Context, w wish, verdict policy.Verdict, asked json.RawMessage) error {
	said, err := json.Marshal(verdict)
	if err != nil {
		return fmt.Errorf("encode verdict: %w", err)
	}
	failed, err := json.Marshal(verdict.Refusals())
	if err != nil {
		return fmt.Errorf("encode the failed checks: %w", err)
	}
	_, err = d.store.Refuse(ctx, store.Refusal{
		Principal: w.request.Principal.ID, Door: string(w.request.Door), Verdict: said, Failed: failed, Request: asked, IdempotencyKey: w.key,
		Reply: &store.Reply{
			Cause: w.cause, Installation: w.pr.Installation, Repo: w.pr.Repo, Number: w.pr.Number,
			Body: chatops.Answer(w.line, chatops.Refusal(w.actor, verdict)),
		},
	})
	if err != nil {
		return fmt.Errorf("keep refusal: %w", err)
	}
	return nil
}

// accept writes the granted wish under its name, or under the fallback name when the first is taken.
func (d *Desk) accept(ctx context.Context, w wish, verdict policy.Verdict, asked json.RawMessage, now time.Time) (store.Row, error) {
	for _, name := range []string{verdict.Grant.Name, verdict.Grant.FallbackName} {
		if name == "" {
			continue
		}
		verdict.Grant.Name = name
		row, err := d.draft(w, verdict.Grant, now)
		if err != nil {
			return store.Row{}, err
		}
		said, err := json.Marshal(verdict)
		if err != nil {
			return store.Row{}, fmt.Errorf("encode verdict: %w", err)
		}
		row, err = d.store.Accept(ctx, store.Acceptance{
			Row: row, MaxTTL: verdict.Grant.MaxTTL, UserTags: verdict.Grant.Tags, Verdict: said, Request: asked, IdempotencyKey: w.key,
		})
		if err == nil {
			return row, nil
		}
		if !errors.Is(err, store.ErrNameTaken) {
			return store.Row{}, fmt.Errorf("accept %s: %w", name, err)
		}
	}
	return store.Row{}, fail(Conflict, "The name %s is taken on %s. Ask again with another one: --name <name>.",
		verdict.Grant.Name, verdict.Grant.BaseDomain)
}

// draft freezes the grant: ids, effective tags and the install-config without secrets.
func (d *Desk) draft(w wish, g policy.Grant, now time.Time) (store.Row, error) {
	cluster, job := store.NewID("clu"), store.NewID("job")
	tags := policy.EffectiveTags(w.request, g, cluster, job, now, d.policy.Installation)
	profile, ok := d.catalogue.Get(g.Profile)
	if !ok {
		return store.Row{}, fmt.Errorf("profile %s was granted and is not in the catalogue", g.Profile)
	}
	config, err := profile.InstallConfig(profiles.InstallInput{
		Name: g.Name, BaseDomain: g.BaseDomain, Region: g.Region, Version: g.Version, Zones: g.Zones, Tags: tags,
	})
	if err != nil {
		return store.Row{}, fmt.Errorf("render install-config of %s: %w", g.Profile, err)
	}
	row := store.Row{
		CostCenter: g.Ownership.CostCenter, Environment: g.Ownership.Environment,
		Door: string(w.request.Door), Tags: tags,
		Spec: store.Spec{
			InstallConfig: string(config), Zones: g.Zones, Grace: g.Grace,
			CredentialsMode: profile.CredentialsMode, ReleaseImage: d.runs.Releases[g.Version],
			PullSecretRef: d.runs.PullSecretRef, SSHKey: d.runs.SSHKey, SSHKeyRef: d.runs.SSHKeyRef, CloudCredsRef: d.runs.CloudCredsRef,
			Account:        d.runs.Account,
			CreateDeadline: profile.Deadlines.Create, DestroyDeadline: profile.Deadlines.Destroy,
		},
	}
	row.ID, row.JobID, row.AcceptedAt = cluster, job, now
	row.Name, row.Platform, row.Profile, row.Release = g.Name, g.Platform, g.Profile, g.Version
	row.Region, row.BaseDomain, row.Generation = g.Region, g.BaseDomain, w.request.Generation
	row.Owner, row.Team, row.RequestedBy = g.Ownership.Owner, g.Ownership.Team, w.request.Principal.ID
	row.TTL, row.HourlyCents, row.MaxTries = g.TTL, g.HourlyCents, g.MaxTries
	if w.pr.Repo != "" {
		row.PR = &store.PRRef{Installation: w.pr.Installation, Repo: w.pr.Repo, Number: w.pr.Number, Head: w.pr.Head}
	}
	return row, nil
}
