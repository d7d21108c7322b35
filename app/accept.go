package app

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/policy/catalogue"
	"github.com/ocpctl/ocpctl/profiles"
	"github.com/ocpctl/ocpctl/store"
)

// ClusterRequest is a request for a cluster before policy judged it.
type ClusterRequest struct {
	Request   policy.Request
	catalogue catalogue.Catalogue // judges the request, the same from start to end
	Notes     []policy.Check      // for people, in addition to policy's checks
	sshKey    string              // public, for the nodes; empty: the installation's
	PR        store.PullRequest
	AskedAt   time.Time      // requested no later than this, by GitHub's clock; zero: GitHub gives no time for it
	Actor     string         // login
	Key       string         // two requests with one key are the same: a label and its generation, a comment
	Cause     string         // what a refusal replies to; empty: no reply
	Thread    string         // the reply's thread; empty: a comment of its own
	Line      string         // the command as typed; empty: not typed
	Label     string         // that a refusal removes; empty: none
	OnRefusal []store.Effect // what a refusal changes on GitHub

	rehearsed bool // everything is rolled back before the commit

	once   *store.Once // for a request that may be sent again; nil: it cannot
	answer func(Created) (store.Answer, error)
}

// Created is the result of a request for a cluster.
type Created struct {
	Row      store.Row // zero if it was refused or the answer is an earlier one
	Verdict  policy.Verdict
	Approval string        // id of the approval it needs first; empty: none
	Place    int           // position in the queue if a quota is full; 0: it starts at once
	Answer   *store.Answer // as given the first time; nil if the request has no Once
	Replayed bool          // it was requested before
	Taken    bool          // with an error: policy accepted it, but another live cluster has the name

	Forecast lifecycle.Forecast // of a rehearsal
}

// CreateFrom judges a request under the store's locks and stores it with its verdict, accepted or refused. The cluster gets the
// granted name, or the fallback name if the first is taken. A refusal is a result, not an error.
func (d *Service) CreateFrom(ctx context.Context, w ClusterRequest) (Created, error) {
	if w.catalogue.Hash == "" {
		w.catalogue = d.catalogue()
	}
	if err := d.keepPeople(ctx, w.catalogue); err != nil {
		return Created{}, err
	}
	w.Request.Principal = named(w.Request.Principal, w.catalogue.Catalogue)
	ask, err := d.ask(w)
	if err != nil {
		return Created{}, err
	}
	var out Created
	fallback, approval := false, store.NewID("apr")
	judge := func(u store.Usage) (store.Judgement, error) {
		out.Verdict = d.evaluate(w, used(u), u.At)
		if fallback {
			out.Verdict.Grant.Name = out.Verdict.Grant.FallbackName
		}
		return d.judgement(w, ask.Request, approval, out.Verdict, u)
	}
	answer := func(row store.Row, j store.Judgement) (store.Answer, error) {
		out.Row, out.Place = row, placeOf(j)
		if j.Accept != nil && j.Accept.Approval != nil {
			out.Approval = approval
		}
		return w.answer(out)
	}
	do := func() (judged store.Judged, err error) {
		if w.rehearsed {
			out.Forecast, err = d.store.Rehearse(ctx, ask, judge)
			return judged, err
		}
		return d.store.Judge(ctx, ask, judge, answer)
	}
	judged, err := do()
	if errors.Is(err, store.ErrNameTaken) && out.Verdict.Grant.FallbackName != "" {
		fallback = true
		judged, err = do()
	}
	switch {
	case errors.Is(err, store.ErrNameTaken):
		return Created{Verdict: out.Verdict, Taken: true}, nameTaken(w, out.Verdict.Grant)
	case errors.Is(err, store.ErrKeyReused):
		return Created{}, Fail(Conflict, chatops.IdempotencyKeyReused)
	case err != nil:
		return Created{}, fmt.Errorf("create a cluster: %w", err)
	}
	out.Row, out.Answer, out.Replayed = judged.Row, judged.Answer, judged.Replayed
	if out.Approval = ""; judged.Row.NeedsApproval && !judged.Replayed {
		out.Approval = approval
	}
	return out, nil
}

// placeOf is the queue position that a judgement gave; the next pass over the queue may move it.
func placeOf(j store.Judgement) int {
	if j.Accept == nil || j.Accept.Turn == nil || j.Accept.Turn.Words == "" {
		return 0
	}
	return j.Accept.Turn.Place
}

func nameTaken(w ClusterRequest, g policy.Grant) error {
	return Fail(Conflict, chatops.NameTaken(g.Name, g.BaseDomain, w.PR.Repo != ""))
}

func (d *Service) evaluate(w ClusterRequest, u policy.Usage, now time.Time) policy.Verdict {
	v := policy.Evaluate(w.Request, u, w.catalogue.Terms(now), d.policy)
	v.Checks = append(v.Checks, w.Notes...)
	if slices.ContainsFunc(w.Notes, func(c policy.Check) bool { return c.Result == policy.Fail }) {
		v = refusedAll(v)
	}
	return v
}

func used(u store.Usage) policy.Usage {
	return policy.Usage{
		Person: policy.Counts(u.Person), Team: policy.Counts(u.Team),
		Repository: policy.Counts(u.Repository), Everywhere: policy.Counts(u.Everywhere), Identities: u.Identities,
	}
}

// ask returns what is requested and whose usage it counts toward. The request alone decides the scope; the usage is counted
// later, under the locks.
func (d *Service) ask(w ClusterRequest) (store.Ask, error) {
	asked, err := json.Marshal(w.Request)
	if err != nil {
		return store.Ask{}, fmt.Errorf("encode request: %w", err)
	}
	return store.Ask{
		Scope:     scope(w.Request.Principal.ID, policy.TeamOf(w.Request, w.catalogue.Catalogue), w.PR.Repo, w.catalogue.Catalogue),
		Principal: w.Request.Principal.ID, Source: string(w.Request.Source), Request: asked, Key: w.Key, Once: w.once,
	}, nil
}

// scope returns whose usage counts. The whole installation is counted and locked only if a quota or a rule needs that.
func scope(person, team, repo string, c profiles.Catalogue) store.Scope {
	everywhere := slices.ContainsFunc(c.Quotas, func(q profiles.Quota) bool { return q.Scope == profiles.ScopeEverywhere }) ||
		slices.ContainsFunc(c.Policies, func(p profiles.Policy) bool {
			return slices.ContainsFunc(p.Rules, func(r profiles.Rule) bool { return strings.Contains(r.When, "everywhere") })
		})
	return store.Scope{Person: person, Team: team, Repo: repo, Everywhere: everywhere}
}

// judgement turns the verdict into what the store writes.
func (d *Service) judgement(w ClusterRequest, asked []byte, id string, v policy.Verdict, u store.Usage) (store.Judgement, error) {
	said, err := json.Marshal(v)
	if err != nil {
		return store.Judgement{}, fmt.Errorf("encode verdict: %w", err)
	}
	if !v.Allowed {
		failed, err := json.Marshal(v.Refusals())
		if err != nil {
			return store.Judgement{}, fmt.Errorf("encode the failed checks: %w", err)
		}
		return store.Judgement{Refuse: &store.Refusal{Verdict: said, Failed: failed, Reply: w.refusal(v), Effects: w.OnRefusal}}, nil
	}
	row, err := d.draft(w, v.Grant, u.At)
	if err != nil {
		return store.Judgement{}, err
	}
	// The cluster's own comment shows the approval and the warnings: there is no second comment.
	row.Spec.Approval, row.Spec.Approvers, row.Spec.Advice = chatops.ApprovalText(v), approversOnGitHub(w, v), chatops.AdviceText(v)
	addons, err := frozen(w.catalogue, v.Grant.Addons)
	if err != nil {
		return store.Judgement{}, err
	}
	return store.Judgement{Accept: &store.Acceptance{
		Row: row, MaxTTL: v.Grant.MaxTTL, UserTags: v.Grant.Tags, Verdict: said, Addons: addons,
		Approval: approval(w, v, id, asked), Turn: turn(v, used(u)),
	}}, nil
}

// refusal is the reply to post; nil: there is none.
func (w ClusterRequest) refusal(v policy.Verdict) *store.Reply {
	if w.Label != "" {
		return w.answered(chatops.LabelRefusal(w.Actor, w.Label, v))
	}
	return w.answered(chatops.Refusal(w.Actor, v))
}

func (w ClusterRequest) answered(words string) *store.Reply {
	if w.Cause == "" || words == "" {
		return nil
	}
	return &store.Reply{
		Cause: w.Cause, Thread: w.Thread, Installation: w.PR.Installation, Repo: w.PR.Repo, Number: w.PR.Number, Body: chatops.Answer(w.Line, words),
	}
}

// draft freezes the grant: ids, effective tags and the install-config without secrets.
func (d *Service) draft(w ClusterRequest, g policy.Grant, now time.Time) (store.Row, error) {
	cluster, job := store.NewID("clu"), store.NewID("job")
	tags := policy.EffectiveTags(w.Request, g, cluster, job, now, d.policy.Installation)
	profile, ok := w.catalogue.Get(g.Profile)
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
		Source: string(w.Request.Source), Tags: tags,
		Spec: store.Spec{
			InstallConfig: string(config), Zones: g.Zones, Grace: g.Grace,
			CredentialsMode: profile.CredentialsMode, ReleaseImage: d.runs.Releases[g.Version],
			PullSecretRef: d.runs.PullSecretRef, SSHKey: cmp.Or(w.sshKey, d.runs.SSHKey), SSHKeyRef: d.runs.SSHKeyRef,
			CloudCredsRef: d.runs.CloudCredsRef, Account: d.runs.Account,
			CreateDeadline: profile.Deadlines.Create, DestroyDeadline: profile.Deadlines.Destroy,
		},
	}
	if f := w.Request.File; f != nil {
		row.Spec.Mention = f.Notify.Mention
	}
	row.ID, row.JobID, row.AcceptedAt = cluster, job, now
	row.Name, row.Platform, row.Profile, row.Release = g.Name, g.Platform, g.Profile, g.Version
	row.Region, row.BaseDomain, row.Generation = g.Region, g.BaseDomain, w.Request.Generation
	row.Owner, row.Team, row.RequestedBy = g.Ownership.Owner, g.Ownership.Team, w.Request.Principal.ID
	row.TTL, row.HourlyCents, row.MaxTries = g.TTL, g.HourlyCents, g.MaxTries
	row.Nodes, row.WorkersBase = g.Nodes, &profile.Workers.Replicas
	if w := profile.Workers; w.Least < w.Most {
		row.WorkersLeast, row.WorkersMost = &w.Least, &w.Most
	}
	if w.PR.Repo != "" {
		row.PR = &store.PRRef{Installation: w.PR.Installation, Repo: w.PR.Repo, Number: w.PR.Number, Head: w.PR.Head}
	}
	return row, nil
}
