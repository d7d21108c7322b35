package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/chatops/messages"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/policy/catalogue"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/runs"
)

// Create judges a request for a cluster and stores the result. A refusal of policy is a result: the verdict says why, and
// Refused turns it into an error where an entry point needs one. Input that cannot be read, or that is never valid, is an error
// that names every wrong field, policy's among them.
func (s *Service) Create(ctx context.Context, p policy.Principal, r CreateRequest) (Created, error) {
	if err := MayForEverybody(p, policy.ActCreate, messages.ToCreateClusters); err != nil {
		return Created{}, err
	}
	request, wrong := s.prepareRequest(p, r, s.catalogue(), time.Now())
	if len(wrong) > 0 {
		return Created{}, Refused(s.evaluateRequest(request, policy.Usage{}, time.Now()), wrong)
	}
	request, err := s.ofPullRequest(ctx, p, r, request)
	if err != nil {
		return Created{}, err
	}
	return s.CreateFrom(ctx, request)
}

// Preview is the expected result of a request.
type Preview struct {
	policy.Verdict
	lifecycle.Forecast
}

// DryRun does what Create does at this moment up to the commit, and stores nothing: it finds a taken name, a full quota and a
// needed approval as the real call does. What a person should correct is among the checks. Only input that cannot be read is an
// error.
func (s *Service) DryRun(ctx context.Context, p policy.Principal, r CreateRequest) (Preview, error) {
	if err := MayForEverybody(p, policy.ActCreate, messages.ToCreateClusters); err != nil {
		return Preview{}, err
	}
	if isUnreadable(r.Wrong) {
		return Preview{}, Refused(policy.Verdict{}, r.Wrong)
	}
	now, err := s.store.Now(ctx)
	if err != nil {
		return Preview{}, fmt.Errorf("read the clock: %w", err)
	}
	inForce := s.catalogue()
	if err := s.keepPeople(ctx, inForce); err != nil {
		return Preview{}, err
	}
	request, wrong := s.prepareRequest(p, r, inForce, now)
	request.explain = r.Explain
	if err := ctx.Err(); err != nil { // the caller no longer waits for the answer
		return Preview{}, fmt.Errorf("judge a request: %w", err)
	}
	if len(wrong) == 0 {
		if request, err = s.ofPullRequest(ctx, p, r, request); err != nil {
			return Preview{}, err
		}
		return s.Rehearse(ctx, request)
	}
	usage, err := s.store.Usage(ctx, scopeOf(p.ID, policy.TeamOf(request.Request, inForce.Catalogue), "", inForce.Catalogue))
	if err != nil {
		return Preview{}, fmt.Errorf("count what is used: %w", err)
	}
	return Preview{Verdict: withFields(s.evaluateRequest(request, ToPolicyUsage(usage), now), wrong)}, nil
}

// Judge returns the verdict on a request by what is used now. Unlike Rehearse it does not look whether a name is taken, or when the cluster
// would begin.
func (s *Service) Judge(ctx context.Context, r policy.Request) (policy.Verdict, error) {
	now, err := s.store.Now(ctx)
	if err != nil {
		return policy.Verdict{}, fmt.Errorf("read the clock: %w", err)
	}
	inForce := s.catalogue()
	repo := ""
	if r.PR != nil {
		repo = r.PR.Repo
	}
	used, err := s.store.Usage(ctx, scopeOf(r.Principal.ID, policy.TeamOf(r, inForce.Catalogue), repo, inForce.Catalogue))
	if err != nil {
		return policy.Verdict{}, fmt.Errorf("count what is used: %w", err)
	}
	q, err := s.lookAround(ctx, ClusterRequest{Request: r, catalogue: inForce, explain: true}, false)
	if err != nil {
		return policy.Verdict{}, err
	}
	return s.evaluateRequest(q, ToPolicyUsage(used), now), nil
}

// JudgeBy returns the verdict on a request by a catalogue, by what was used at a time.
func (s *Service) JudgeBy(c catalogue.Catalogue, r policy.Request, used policy.Usage, at time.Time) policy.Verdict {
	return s.evaluateRequest(ClusterRequest{Request: r, catalogue: c}, used, at)
}

// Rehearse creates a cluster and rolls it back. A taken name is a result here, like every other refusal.
func (s *Service) Rehearse(ctx context.Context, r ClusterRequest) (Preview, error) {
	r, ask, err := s.completeAsk(ctx, r, false)
	if err != nil {
		return Preview{}, err
	}
	r.proposes = true
	made, err := s.judgeAndWrite(r, ask, func(judge judgeFunc) (store.Judged, error) { return s.store.Rehearse(ctx, ask, judge) })
	if refused := RunRefusal(err); refused != nil {
		return Preview{Verdict: policy.Verdict{Checks: []policy.Check{{Name: messages.RunCheck, Result: policy.Fail, Message: refused.Error()}}}}, nil
	}
	if errors.Is(err, db.ErrNameTaken) {
		v := made.Verdict
		check := policy.Check{Name: "name", Result: policy.Fail, Asked: v.Grant.Name, Message: nameTaken(r, v.Grant).Message, Accept: "a name that no live cluster has"}
		v.Checks = append(slices.DeleteFunc(slices.Clone(v.Checks), func(c policy.Check) bool { return c.Name == check.Name }), check)
		return Preview{Verdict: withoutGrant(v)}, nil
	}
	if err != nil {
		return Preview{}, err
	}
	if made.Reused {
		return Preview{Verdict: verdictOfReuse(made.Row)}, nil
	}
	if made.Row.ClaimedAt.IsZero() {
		made.Forecast = made.Forecast.Braked(s.brakeOn(r, made.Verdict.Grant, time.Now()))
	}
	return Preview{Verdict: made.Verdict, Forecast: made.Forecast}, nil
}

// verdictOfReuse is the verdict on a request that gets a cluster which its run has.
func verdictOfReuse(row clusters.Row) policy.Verdict {
	return policy.Verdict{
		Allowed: true, Checks: []policy.Check{{Name: messages.RunCheck, Result: policy.Pass, Message: messages.RunReused(row.Name, string(row.Status))}},
		Grant: policy.Grant{Name: row.Name, Profile: row.Profile, Platform: row.Platform, Provisioner: row.Provisioner, Region: row.Region, Version: row.Release, BaseDomain: row.BaseDomain,
			Ownership: policy.Ownership{Team: row.Team, Owner: row.Owner, CostCenter: row.CostCenter, Environment: row.Environment}, Nodes: row.Nodes, HourlyCents: row.ListCents, TTL: row.TTL},
	}
}

// withoutGrant returns the verdict with nothing granted.
func withoutGrant(v policy.Verdict) policy.Verdict {
	v.Allowed, v.Approval, v.Waits, v.Grant = false, nil, nil, policy.Grant{}
	return v
}

// withFields returns the verdict with the wrong fields among its checks.
func withFields(v policy.Verdict, wrong []Field) policy.Verdict {
	refusals := v.Refusals()
	refused := make(map[string]bool, len(refusals)+len(wrong))
	for _, check := range refusals {
		refused[fieldOf(check).Name] = true
	}
	for _, field := range limitFields(wrong, max(0, mostProblems-len(refusals))) {
		if refused[field.Name] {
			continue
		}
		refused[field.Name] = true
		v.Checks = append(v.Checks, policy.Check{Name: field.Name, Result: policy.Fail, Message: field.Detail, Accept: strings.Join(field.Accept, ", ")})
	}
	return withoutGrant(v)
}

// prepareRequest turns what an entry point read into a request that policy can judge, and returns what is wrong with it in addition to
// policy's checks.
func (s *Service) prepareRequest(p policy.Principal, r CreateRequest, b catalogue.Catalogue, now time.Time) (ClusterRequest, []Field) {
	if isUnreadable(r.Wrong) { // nothing was read that could be judged
		return ClusterRequest{catalogue: b}, r.Wrong
	}
	p = withDisplayName(p, b.Catalogue)
	r, endless := r.dropTooLong()
	r, wrong := r.fillFromPerson(p, b.Catalogue)
	wrong = slices.Concat(r.Wrong, endless, wrong)
	run, signal, unbound := s.bindToRun(p, r.Run)
	var asker *runs.Ref
	if run == nil && len(unbound) == 0 && r.Run != nil {
		asker, _ = s.Asker(p, r.Run.PipelineRun)
	}
	wrong = append(wrong, unbound...)
	out := ClusterRequest{run: run, asker: asker, signal: signal, Request: r.policyRequest(p), catalogue: b, once: r.Once, Key: r.Key, again: r.Again, show: r.Show, say: r.Say}
	if r.Run != nil && r.Run.Reuse == policy.ReusePullRequest {
		of, _ := s.Run(p, r.Run.PipelineRun)
		out.Request.Ownership = s.OwnershipOf(of.Repo)
	}
	profile, known := b.Get(r.Profile)
	if r.Profile == "" {
		profile, known = b.Default()
	}
	own := policy.OwnershipOf(out.Request, b.Terms(now))
	_, exists, declared := b.Team(own.Team)
	if own.Team != "" && !out.Request.MayFor(own.Team) || declared && !exists { // a team's defaults are not revealed to others, and not reported as missing
		own.CostCenter, own.Environment = cmp.Or(own.CostCenter, noneOfTheirs), cmp.Or(own.Environment, noneOfTheirs)
	}
	for _, field := range r.checkFields(profile, known, own) {
		follows := field.Name == "team" && own.Team == "" && hasProblem(wrong, Field{Name: "owner"}) // the team would follow from the owner
		if field.Name == "team" && declared && own.Team == "" {
			field.Accept = teamsOpenTo(p, b.Catalogue)
		}
		if !hasProblem(wrong, field) && !follows { // a field that could not be read is not missing
			wrong = append(wrong, field)
		}
	}
	if run != nil && run.Reuse != nil && known {
		run.Beside = environmentSlot(profile.Name)
	}
	if out.sshKey = strings.TrimSpace(r.SSHPublicKey); isAbbreviated(out.sshKey) {
		out.sshKey, out.Notes = "", []policy.Check{cutForShow}
	}
	return out, wrong
}

// noneOfTheirs replaces values that only members of a team may see.
const noneOfTheirs = "-"

// cutForShow is the note about a key that ends in dots, as documentation prints keys: people copy the sample request of the documents first, so such a
// key is ignored with a warning instead of refused.
var cutForShow = policy.Check{
	Name: "ssh-key", Result: policy.Warn, Asked: "a key that ends in dots", Accept: "a whole line of a .pub file",
	Message: "The SSH public key is abbreviated (it ends in dots), so it was ignored. The nodes get the installation's key.", Next: "To use a key of your own, send the whole line of a .pub file.",
}

// Refused returns what is wrong with a request as an error, field by field: what could not be read, and what policy refused, at
// most mostProblems of them.
func Refused(v policy.Verdict, wrong []Field) error {
	refusals := v.Refusals()
	for _, check := range refusals {
		parts := check.Name == "ownership" && len(wrong)+len(refusals) > 1 // its parts are named one by one, or another check says why
		if field := fieldOf(check); !isUnreadable(wrong) && !hasProblem(wrong, field) && !parts {
			wrong = append(wrong, field)
		}
	}
	message := messages.CannotAccept
	for _, smaller := range v.Smaller() {
		message += " " + smaller.Message
	}
	return &Error{Kind: Invalid, Message: message, Fields: limitFields(wrong, mostProblems)}
}

func isUnreadable(wrong []Field) bool {
	return slices.ContainsFunc(wrong, func(f Field) bool { return f.Name == wholeRequest })
}

func nameTaken(r ClusterRequest, g policy.Grant) *Error {
	return Fail(Conflict, sayNameTaken(g.Name, g.BaseDomain, r.PR.Repo != "" || r.show != nil))
}

// sayNameTaken tells a requester that another cluster has the name; typed: the request can be repeated as a command with another one.
func sayNameTaken(name, baseDomain string, typed bool) string {
	how := "Choose another name."
	if typed {
		how = "Choose another name: --name <name>."
	}
	return fmt.Sprintf("The name %s is taken on %s. %s", name, baseDomain, how)
}
