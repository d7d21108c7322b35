package app

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/internal/kinds"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/policy/catalogue"
	"github.com/ocpctl/ocpctl/profiles"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/pullrequests"
	"github.com/ocpctl/ocpctl/store/runs"
	"github.com/ocpctl/ocpctl/store/usage"
)

// ClusterRequest is a request for a cluster before policy judged it. Create makes one of a CreateRequest; pull requests make their
// own. The store returns the judgement on it, and Created adds policy's verdict to that.
type ClusterRequest struct {
	Request   policy.Request
	catalogue catalogue.Catalogue // judges the request, the same from start to end
	Notes     []policy.Check      // for people, in addition to policy's checks
	pool      *profiles.Pool      // in which it is to wait; nil: somebody wants it
	sshKey    string              // public, for the nodes; empty: the installation's
	PR        pullrequests.PullRequest
	AskedAt   time.Time         // requested no later than this, by GitHub's clock; zero: GitHub gives no time for it
	Actor     string            // login
	Key       string            // two requests with one key are the same: a label and its generation, a comment
	Cause     string            // what a refusal replies to; empty: no reply
	Thread    string            // the reply's thread; empty: a comment of its own
	Line      string            // the command as typed; empty: not typed
	Label     string            // that a refusal removes; empty: none
	OnRefusal []clusters.Effect // what a refusal changes on GitHub

	again  Again                                              // in place of which cluster it is requested; zero: of none
	run    *runs.Ask                                          // the run that the cluster ends with; nil: none
	asker  *runs.Ref                                          // the run that asks for a cluster that does not end with it; nil: none
	wait   *runs.WaitAsk                                      // the jobs that wait for the cluster; nil: none
	signal *runs.SignalAsk                                    // the run that is told when the cluster is ready or failed; nil: none
	pull   *store.PullAsk                                     // the pull request whose cluster is wanted rather than a new one; nil: none
	show   *clusters.SlackPlace                               // where in Slack the cluster is shown; nil: nowhere
	say    func(policy.Verdict, clusters.Row) *clusters.Reply // the answer that is saved with the result; nil: see Cause
	once   *store.Once                                        // for a request that may be sent again; nil: it cannot

	anew     bool                           // no pool serves it
	brakes   []lifecycle.Brake              // that hold now, anywhere
	unproven map[string]policy.Unproven     // the accounts that get no new cluster, by the cloud's id
	roles    map[string]*contract.CloudRole // of the accounts that have one, by the cloud's id
	fits     map[policy.AccountRegion]int   // how many more clusters fit where, as counted lately
	fitsAt   time.Time                      // when that was

	explain  bool // the verdict has the rules that do not apply, too; only for a rehearsal
	proposes bool // the verdict names a smaller kind that would do, as a refusal does; only for a rehearsal
}

// Again says in place of which cluster that failed or ended a cluster is requested.
type Again struct {
	Of   string // the cluster's id
	Once bool   // only if that was not requested again before: whoever did, that cluster is the result
}

// Created is the result of a request for a cluster. Row.ID is empty if it was refused.
type Created struct {
	store.Judged
	Verdict policy.Verdict // policy's answer in place of the stored JSON; zero if the result is a cluster that was there
}

// toCreated adds the verdict to what the store returned: the last one, or that of an earlier request. The last one is still being
// written if the store returned no verdict.
func toCreated(judged store.Judged, last *policy.Verdict) (Created, error) {
	made := Created{Judged: judged}
	switch {
	case len(judged.Verdict) == 0:
	case !judged.Replayed:
		made.Verdict = *last
	default:
		if err := json.Unmarshal(judged.Verdict, &made.Verdict); err != nil {
			return Created{}, fmt.Errorf("read the verdict: %w", err)
		}
	}
	if !judged.Row.ClaimedAt.IsZero() {
		made.Verdict = made.Verdict.Served()
	}
	return made, nil
}

// ApprovalID returns the id of the approval that the cluster needs first; empty: none.
func (c Created) ApprovalID() string {
	if c.Approval == nil {
		return ""
	}
	return c.Approval.ID
}

// Position returns the position in the queue if a quota is full; 0: the cluster starts at once. The next pass over the queue may move
// it.
func (c Created) Position() int {
	if c.Turn == nil || c.Turn.Words == "" {
		return 0
	}
	return c.Turn.Position
}

// CreateFrom judges a request under the store's locks and stores it with its verdict, accepted or refused. The cluster gets the
// granted name, or the fallback name if the first is taken. A refusal is a result, not an error.
func (s *Service) CreateFrom(ctx context.Context, r ClusterRequest) (Created, error) {
	r, ask, err := s.completeAsk(ctx, r, true)
	if err != nil {
		return Created{}, err
	}
	made, err := s.judgeAndWrite(r, ask, func(judge judgeFunc) (store.Judged, error) { return s.store.Judge(ctx, ask, judge) })
	switch {
	case errors.Is(err, db.ErrNameTaken):
		return Created{}, nameTaken(r, made.Verdict.Grant)
	case errors.Is(err, db.ErrKeyReused):
		return Created{}, Fail(Conflict, "This Idempotency-Key was used for another request. Send the same request again, or use a new key.")
	case errors.Is(err, db.ErrStale):
		return Created{}, Fail(Busy, "The run's cluster ended just now. Ask again for a new one.")
	case RunRefusal(err) != nil:
		return Created{}, RunRefusal(err)
	case err != nil:
		return Created{}, err
	}
	return made, nil
}

// judgeFunc judges a request by the usage that the store counted under its locks.
type judgeFunc = func(usage.Usage) (store.Judgement, error)

// judgeAndWrite has the store judge a request, with the granted name first and with the fallback name if that is taken. With
// db.ErrNameTaken, the result has the last verdict.
func (s *Service) judgeAndWrite(r ClusterRequest, ask store.Ask, write func(judgeFunc) (store.Judged, error)) (Created, error) {
	var last policy.Verdict
	judged, err := write(s.judgeWith(r, ask, false, &last))
	if errors.Is(err, db.ErrNoAccount) { // nothing waits in a pool
		r.anew = true
		judged, err = write(s.judgeWith(r, ask, false, &last))
	}
	made, unread := toCreated(judged, &last)
	if errors.Is(err, db.ErrNameTaken) && made.Verdict.Grant.FallbackName != "" {
		judged, err = write(s.judgeWith(r, ask, true, &last))
		made, unread = toCreated(judged, &last)
	}
	if err == nil {
		err = unread
	}
	if err != nil {
		return made, fmt.Errorf("create a cluster: %w", err)
	}
	return made, nil
}

// judgeWith returns the function that evaluates the request and grants the fallback name or the first name. It leaves the verdict in last.
func (s *Service) judgeWith(r ClusterRequest, ask store.Ask, fallback bool, last *policy.Verdict) judgeFunc {
	return func(u usage.Usage) (store.Judgement, error) {
		v := s.evaluateRequest(r, ToPolicyUsage(u), u.At)
		if fallback {
			v.Grant.Name = v.Grant.FallbackName
		}
		*last = v
		return s.toJudgement(r, ask.Request, v, u)
	}
}

// terms is what the request is judged by.
func (s *Service) terms(r ClusterRequest, now time.Time) policy.Terms {
	t := r.catalogue.Terms(now)
	t.Explain, t.Claims, t.Brakes, t.Unproven, t.Own = r.explain, r.claims(), r.brakes, r.unproven, map[string]string{}
	for platform, cloud := range s.installs.Clouds {
		t.Own[platform] = cloud.Account
	}
	return t
}

func (s *Service) evaluateRequest(r ClusterRequest, u policy.Usage, now time.Time) policy.Verdict {
	u.Accounts.Fits, u.Accounts.Counted = r.fits, r.fitsAt
	v := policy.Evaluate(r.Request, u, s.terms(r, now), s.policy)
	v.Checks = append(v.Checks, r.Notes...)
	if v.Allowed {
		v.Checks = append(v.Checks, s.checkBrakes(r, v.Grant, now)...)
	}
	if slices.ContainsFunc(r.Notes, func(c policy.Check) bool { return c.Result == policy.Fail }) {
		return withoutGrant(v)
	}
	if r.proposes || !v.Allowed {
		v.Checks = append(v.Checks, policy.ProposeSmaller(r.Request, u, s.terms(r, now), s.policy)...)
	}
	return v
}

// lookAround completes a request with what keeps new clusters from somewhere now. opens: as in listUnproven.
func (s *Service) lookAround(ctx context.Context, r ClusterRequest, opens bool) (_ ClusterRequest, err error) {
	if r.unproven, r.roles, err = s.listUnproven(ctx, r.catalogue.Catalogue, opens); err != nil {
		return r, err
	}
	if r.brakes, err = s.store.Brakes.List(ctx); err != nil {
		return r, err
	}
	if len(r.catalogue.Accounts) == 0 && !slices.ContainsFunc(r.catalogue.All(), profiles.Profile.FallsBack) {
		return r, nil
	}
	fits, _, at, err := s.store.Room(ctx)
	r.fits, r.fitsAt = toRegions(fits), at
	return r, err
}

// completeAsk completes a request with the catalogue and the person's name, and returns with it what is requested and whose usage it
// counts toward. The request alone decides the scope; the usage is counted later, under the locks. opens: as in listUnproven.
func (s *Service) completeAsk(ctx context.Context, r ClusterRequest, opens bool) (ClusterRequest, store.Ask, error) {
	if r.catalogue.Hash == "" {
		r.catalogue = s.catalogue()
	}
	if err := s.keepPeople(ctx, r.catalogue); err != nil {
		return ClusterRequest{}, store.Ask{}, err
	}
	r, err := s.lookAround(ctx, r, opens)
	if err != nil {
		return ClusterRequest{}, store.Ask{}, err
	}
	if pr := r.Request.PR; pr != nil && pr.AuthorID != 0 && pr.NeedsAgreement() {
		if r.Request.ByAuthor, err = s.isSamePerson(ctx, r.Request.Principal, profiles.GitHubPrincipal(pr.AuthorID)); err != nil {
			return ClusterRequest{}, store.Ask{}, err
		}
	}
	r.Request.Principal = withDisplayName(r.Request.Principal, r.catalogue.Catalogue)
	content, err := json.Marshal(r.Request)
	if err != nil {
		return ClusterRequest{}, store.Ask{}, fmt.Errorf("encode request: %w", err)
	}
	return r, store.Ask{
		Scope:     scopeOf(r.Request.Principal.ID, policy.TeamOf(r.Request, r.catalogue.Catalogue), r.PR.Repo, r.catalogue.Catalogue),
		Principal: r.Request.Principal.ID, Source: string(r.Request.Source), Request: content, Key: r.Key, Once: r.once, Run: r.run, Pull: r.pull, Signal: r.signal, Wait: r.wait, Asker: r.asker,
		RetryOf: r.again.Of, RetryOnce: r.again.Once, Claims: r.claims(),
	}, nil
}

// toJudgement turns the verdict into what the store writes.
func (s *Service) toJudgement(r ClusterRequest, asked []byte, v policy.Verdict, u usage.Usage) (store.Judgement, error) {
	encoded, err := json.Marshal(v)
	if err != nil {
		return store.Judgement{}, fmt.Errorf("encode verdict: %w", err)
	}
	counted, err := json.Marshal(ToPolicyUsage(u))
	if err != nil {
		return store.Judgement{}, fmt.Errorf("encode what was counted: %w", err)
	}
	var checks []store.JudgedCheck
	for _, hit := range v.Hits() {
		checks = append(checks, store.JudgedCheck{Name: hit.Name, Part: hit.Part, Result: string(hit.Result)})
	}
	if !v.Allowed {
		failed, err := json.Marshal(v.Refusals())
		if err != nil {
			return store.Judgement{}, fmt.Errorf("encode the failed checks: %w", err)
		}
		refused := store.Judgement{Verdict: encoded, Usage: counted, Checks: checks, Failed: failed, Reply: r.refusalReply(v), Effects: r.OnRefusal}
		if r.wait != nil {
			refused.Refusal = chatops.WaitRefusal(v)
		}
		return refused, nil
	}
	row, err := s.draftRow(r, v.Grant, u.At)
	if err != nil {
		return store.Judgement{}, err
	}
	// The cluster's own comment shows the approval and the warnings: there is no second comment.
	row.Spec.Approval, row.Spec.Approvers, row.Spec.Advice = chatops.ApprovalText(v), approversOnGitHub(r, v), chatops.AdviceText(v)
	if r.pool != nil {
		row = forPool(row, *r.pool)
	}
	addonsOf := func(name, baseDomain, region string) ([]clusters.Addon, error) {
		return freezeAddons(r.catalogue, v.Grant.Addons, name, baseDomain, region)
	}
	addons, err := addonsOf(row.Name, row.BaseDomain, row.Region)
	if err != nil {
		return store.Judgement{}, err
	}
	var reply *clusters.Reply
	var answer func(clusters.Row) *clusters.Reply
	if r.say != nil {
		answer = func(row clusters.Row) *clusters.Reply { return r.say(v.Served(), row) }
		reply = r.say(v, row)
	}
	return store.Judgement{
		Reply: reply, Answer: answer, Show: r.show, Access: s.accessAsk(r, row), Pools: s.poolsFor(r, v.Grant), Accounts: claimAccounts(r.Request, v.Grant), AnyDomain: v.Grant.ClaimFrom.AnyDomain, Regions: v.Grant.ClaimFrom.Regions, ClaimOnly: v.Grant.ClaimFrom.Only, Advice: chatops.AdviceText(v.Served()),
		Allowed: true, Verdict: encoded, Usage: counted, Checks: checks, Row: row, MaxTTL: v.Grant.MaxTTL, UserTags: v.Grant.Tags, Weight: v.Grant.Weight, Addons: addons, AddonsOf: addonsOf,
		Budget:   reachThresholds(row.Team, u, v.Grant.PriceCents, r.catalogue.Catalogue),
		Approval: approvalAsk(r, v, asked), Turn: turnAsk(v, ToPolicyUsage(u)),
	}, nil
}

// refusalReply is the reply to post; nil: there is none.
func (r ClusterRequest) refusalReply(v policy.Verdict) *clusters.Reply {
	if r.say != nil {
		return r.say(v, clusters.Row{})
	}
	if r.Label != "" {
		return r.replyWith(chatops.LabelRefusal(r.Actor, r.Label, v))
	}
	return r.replyWith(chatops.Refusal(r.Actor, v))
}

func (r ClusterRequest) replyWith(text string) *clusters.Reply {
	if r.Cause == "" || text == "" {
		return nil
	}
	return &clusters.Reply{
		Cause: r.Cause, Thread: r.Thread, Installation: r.PR.Installation, Repo: r.PR.Repo, Number: r.PR.Number, Body: chatops.Answer(r.Line, text),
	}
}

// draftRow freezes the grant: ids, effective tags and the install-config without secrets.
func (s *Service) draftRow(r ClusterRequest, g policy.Grant, now time.Time) (clusters.Row, error) {
	cluster, job := db.NewID("clu"), db.NewID("job")
	tags := policy.EffectiveTags(r.Request, g, cluster, job, now, s.policy.Installation)
	profile, ok := r.catalogue.Get(g.Profile)
	if !ok {
		return clusters.Row{}, fmt.Errorf("profile %s was granted and is not in the catalogue", g.Profile)
	}
	config, err := s.configs.Render(r.catalogue.Hash, profile, profiles.InstallInput{
		Name: g.Name, BaseDomain: g.BaseDomain, Region: g.Region, Version: g.Version, Zones: g.Zones, Tags: tags,
	})
	if err != nil {
		return clusters.Row{}, fmt.Errorf("render install-config of %s: %w", g.Profile, err)
	}
	cloud := s.installs.Clouds[g.Platform]
	account, _ := r.catalogue.Account(g.Account)
	if account.CredentialsRef != "" || len(account.ServiceAccounts) > 0 {
		cloud.CredentialsRef = account.CredentialsRef
	}
	row := clusters.Row{
		CostCenter: g.Ownership.CostCenter, Environment: g.Ownership.Environment,
		Source: string(r.Request.Source), Tags: tags,
		Spec: clusters.Spec{
			InstallConfig: string(config), Zones: g.Zones, SpareZones: g.SpareZones, Grace: g.Grace, RunGrace: g.RunGrace,
			CredentialsMode: profile.CredentialsMode, ReleaseImage: s.installs.Releases[g.Version],
			PullSecretRef: s.installs.PullSecretRef, SSHKey: cmp.Or(r.sshKey, s.installs.SSHKey), SSHKeyRef: s.installs.SSHKeyRef,
			CloudCredsRef: cloud.CredentialsRef, Account: cmp.Or(account.Number, cloud.Account), ServiceAccounts: account.ServiceAccounts, CloudRole: r.roles[account.Number],
			CreateDeadline: profile.Deadlines.Create, DestroyDeadline: profile.Deadlines.Destroy, AccessMost: profile.MaxAccess,
			OffHoursChosen: r.Request.OffHours, RegionUsual: r.Request.Region == "",
		},
	}
	if f := r.Request.File; f != nil {
		row.Spec.Mention, row.Spec.Notify = f.Notify.Mention, f.Notify.Slack
	}
	row.Provisioner = profile.Provisioner
	if !kinds.Can(row.Provisioner, kinds.OwnAPI) {
		row.Spec.Server = account.Server
	}
	row.ID, row.JobID, row.AcceptedAt, row.Account, row.Exclusive = cluster, job, now, account.Name, g.Exclusive
	row.Name, row.Platform, row.Profile, row.Release = g.Name, g.Platform, g.Profile, g.Version
	row.Region, row.BaseDomain, row.Generation = g.Region, g.BaseDomain, r.Request.Generation
	row.Owner, row.Team, row.RequestedBy = g.Ownership.Owner, g.Ownership.Team, r.Request.Principal.ID
	row.TTL, row.HourlyCents, row.MaxTries = g.TTL, g.HourlyCents, g.MaxTries
	for _, before := range profile.WarnBefore {
		row.WarnBefore = append(row.WarnBefore, s.policy.Scale(before))
	}
	row.Priority = g.Priority
	row.Nodes, row.WorkersBase = g.Nodes, &profile.Workers.Replicas
	if profile.Sleep != profiles.SleepNever {
		row.SleepMode = lifecycle.SleepMode(profile.Sleep)
	}
	if profile.Spot != "" {
		row.Spot, row.OnDemandCents = lifecycle.SpotWorkers, g.OnDemand
	}
	row.OffHours, row.UseExtends = g.OffHours, profile.TTLFrom == profiles.TTLFromActivity
	row.Idle = lifecycle.Idle{
		TellAfter: s.policy.Scale(profile.Idle.TellAfter), SleepAfter: s.policy.Scale(profile.Idle.SleepAfter), EndAfter: s.policy.Scale(profile.Idle.EndAfter),
	}
	if region, known := profile.Region(g.Region); known {
		row.ListAsleep, row.WorkerMicros = region.AsleepCents, region.WorkerMicros
	}
	if w := profile.Workers; w.Least < w.Most {
		row.WorkersLeast, row.WorkersMost = &w.Least, &w.Most
	}
	if r.PR.Repo != "" {
		row.PR = &clusters.PRRef{Installation: r.PR.Installation, Repo: r.PR.Repo, Number: r.PR.Number, Head: r.PR.Head}
	}
	return row, nil
}
