package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
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

// create has a wish judged behind the store's locks and written with its verdict, granted or refused, under the granted
// name or under the fallback name when the first is taken. The returned row is empty on a refusal, which is a result and
// not an error.
func (d *Desk) create(ctx context.Context, w wish) (store.Row, policy.Verdict, error) {
	// Whose it will be is settled by the request alone; what they have is counted when everybody else's wishes wait.
	ask, err := d.ask(w)
	if err != nil {
		return store.Row{}, policy.Verdict{}, err
	}
	var verdict policy.Verdict
	fallback := false
	judge := func(u store.Usage) (store.Judgement, error) {
		verdict = d.evaluate(w, used(u), u.At)
		if fallback {
			verdict.Grant.Name = verdict.Grant.FallbackName
		}
		return d.judgement(w, ask.Request, verdict, u)
	}
	judged, err := d.store.Judge(ctx, ask, judge, nil)
	if errors.Is(err, store.ErrNameTaken) && verdict.Grant.FallbackName != "" {
		fallback = true
		judged, err = d.store.Judge(ctx, ask, judge, nil)
	}
	switch {
	case errors.Is(err, store.ErrNameTaken):
		return store.Row{}, verdict, fail(Conflict, "The name %s is taken on %s. Ask again with another one: --name <name>.",
			verdict.Grant.Name, verdict.Grant.BaseDomain)
	case err != nil:
		return store.Row{}, policy.Verdict{}, fmt.Errorf("create a cluster: %w", err)
	}
	return judged.Row, verdict, nil
}

func (d *Desk) evaluate(w wish, u policy.Usage, now time.Time) policy.Verdict {
	return policy.Evaluate(w.request, u, policy.Terms{Catalogue: d.catalogue, Now: now}, d.policy)
}

func used(u store.Usage) policy.Usage {
	return policy.Usage{
		Person: policy.Counts(u.Person), Team: policy.Counts(u.Team),
		Repository: policy.Counts(u.Repository), Everywhere: policy.Counts(u.Everywhere),
	}
}

// ask says what is asked and for whom it counts.
func (d *Desk) ask(w wish) (store.Ask, error) {
	asked, err := json.Marshal(w.request)
	if err != nil {
		return store.Ask{}, fmt.Errorf("encode request: %w", err)
	}
	return store.Ask{
		Scope: store.Scope{
			Person: w.request.Principal.ID, Repo: w.pr.Repo, Team: policy.TeamOf(w.request, d.catalogue),
			Everywhere: slices.ContainsFunc(d.catalogue.Quotas, func(q profiles.Quota) bool { return q.Scope == profiles.ScopeEverywhere }),
		},
		Principal: w.request.Principal.ID, Door: string(w.request.Door), Request: asked, Key: w.key,
	}, nil
}

// judgement is what the verdict comes to.
func (d *Desk) judgement(w wish, asked []byte, v policy.Verdict, u store.Usage) (store.Judgement, error) {
	said, err := json.Marshal(v)
	if err != nil {
		return store.Judgement{}, fmt.Errorf("encode verdict: %w", err)
	}
	if !v.Allowed {
		failed, err := json.Marshal(v.Refusals())
		if err != nil {
			return store.Judgement{}, fmt.Errorf("encode the failed checks: %w", err)
		}
		return store.Judgement{Refuse: &store.Refusal{Verdict: said, Failed: failed, Reply: &store.Reply{
			Cause: w.cause, Installation: w.pr.Installation, Repo: w.pr.Repo, Number: w.pr.Number,
			Body: chatops.Answer(w.line, chatops.Refusal(w.actor, v)),
		}}}, nil
	}
	row, err := d.draft(w, v.Grant, u.At)
	if err != nil {
		return store.Judgement{}, err
	}
	return store.Judgement{Accept: &store.Acceptance{
		Row: row, MaxTTL: v.Grant.MaxTTL, UserTags: v.Grant.Tags, Verdict: said,
		Approval: approval(w, v, asked), Turn: turn(v, used(u)),
	}}, nil
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
	row.Nodes, row.WorkersBase = g.Nodes, &profile.Workers.Replicas
	if w := profile.Workers; w.Least < w.Most {
		row.WorkersLeast, row.WorkersMost = &w.Least, &w.Most
	}
	if w.pr.Repo != "" {
		row.PR = &store.PRRef{Installation: w.pr.Installation, Repo: w.pr.Repo, Number: w.pr.Number, Head: w.pr.Head}
	}
	return row, nil
}
