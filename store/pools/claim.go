// Package pools keeps the clusters that wait to be claimed, and what admins say of their pools.
package pools

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/internal/tagkey"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/access"
	"github.com/ocpctl/ocpctl/store/brakes"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/usage"
)

// Candidate is a pool from which a request may be served.
type Candidate struct {
	Pool     string
	Lifetime time.Duration // the longest life of a claimed cluster; zero: what the request says
}

// Request is a claim: what was accepted, and from which pools it may come.
type Request struct {
	Pools     []Candidate       // the best first
	Accounts  []string          // the catalogue's names of the cloud accounts in which it may be, "" for the installation's own; nil: only that
	AnyDomain bool              // it may have another base domain than the row
	Regions   []string          // in which it may be besides the row's
	Row       clusters.Row      // as the cluster would be made anew
	MaxTTL    time.Duration     // the most it may live from now on
	UserTags  map[string]string // the requester's own
	Weight    int               // the team's share of runners
	Access    bool              // its requester gets access with it

	// AddonsOf are the add-ons with a cluster's own values, in the order of the row's, which names them. A waiting cluster may lack some; it gets those.
	AddonsOf func(name, baseDomain, region string) ([]clusters.Addon, error)
	RetryOf  string // id of the cluster in whose place it is; empty: of none
	Patient  bool   // it can be made again if ErrBusy is its result
}

// ErrBusy: of the waiting clusters that fit, each is being changed at this moment. It may be free a moment later.
var ErrBusy = errors.New("the waiting clusters are being changed")

// fits selects the waiting clusters that a claim can take. None is taken that a drain ends, or that one would end for the claimant's team.
var fits = `
	FROM clusters c
	WHERE c.pool <> '' AND c.destroyed_at IS NULL AND c.pool = ANY (@pools) AND c.pooled AND c.desired = 'present' AND c.status = 'READY'
		AND c.power <> 'changing' AND c.sleep_wanted = (c.power = 'asleep') AND c.degraded = '' AND c.end_ttl > @now AND c.end_drain IS NULL
		AND c.account = ANY (@accounts) AND (@any_domain OR c.base_domain = @domain)
		AND (c.platform, c.profile, c.version) = (@platform, @profile, @version) AND c.addons <@ @addons::text[] AND c.region = ANY (@regions)
		AND NOT EXISTS (SELECT FROM freezes f WHERE f.thawed_at IS NULL AND f.until > @now AND f.drain_at IS NOT NULL AND ` + brakes.Covers("f.", "c.", "@team") + `)`

// best is the one that a claim takes: one that lacks no add-on, else one that lacks some; of these that of the first pool that has one, one that is
// awake, and of these the youngest. One that is locked is passed over.
var best = `SELECT c.id ` + fits + `
	ORDER BY c.addons @> @addons::text[] DESC, array_position(@pools::text[], c.pool), c.power, c.ready_at DESC, c.id LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED`

// Claim gives a waiting cluster to whoever requested one, and returns its id; empty: none waits that fits. From now on it is theirs: its owner,
// its ends, what it costs, and who hears of it. A runner prepares it. What it cost while it waited stays its pool's. ErrBusy: a patient request
// tries again.
func Claim(ctx context.Context, c *db.Tx, r Request) (id string, err error) {
	pools := make([]string, 0, len(r.Pools))
	lifetimes := map[string]time.Duration{}
	for _, p := range r.Pools {
		pools = append(pools, p.Pool)
		lifetimes[p.Pool] = p.Lifetime
	}
	wanted := pgx.NamedArgs{
		"pools": pools, "now": c.Now, "platform": r.Row.Platform, "profile": r.Row.Profile, "regions": append([]string{r.Row.Region}, r.Regions...), "version": r.Row.Release,
		"domain": r.Row.BaseDomain, "team": r.Row.Team, "any_domain": r.AnyDomain, "addons": append([]string{}, r.Row.Addons...), "accounts": r.Accounts,
	}
	if len(r.Accounts) == 0 {
		wanted["accounts"] = []string{""}
	}
	err = c.QueryRow(ctx, best, wanted).Scan(&id)
	if errors.Is(err, pgx.ErrNoRows) {
		return "", busy(ctx, c, r, wanted)
	}
	if err != nil {
		return "", fmt.Errorf("look for a waiting cluster: %w", err)
	}
	at := c.Now
	cur, err := clusters.Lock(ctx, c, id)
	if err != nil {
		return "", err
	}
	c.Now = at // whatever the request writes has one time
	return id, take(ctx, c, cur, r, lifetimes[cur.Pool])
}

// busy is ErrBusy if a cluster fits that is locked and the request can wait for it.
func busy(ctx context.Context, c *db.Tx, r Request, wanted pgx.NamedArgs) error {
	if !r.Patient {
		return nil
	}
	var locked bool
	if err := c.QueryRow(ctx, `SELECT EXISTS (SELECT `+fits+`)`, wanted).Scan(&locked); err != nil {
		return fmt.Errorf("look for a waiting cluster that is locked: %w", err)
	}
	if locked {
		return ErrBusy
	}
	return nil
}

// made is what was frozen of a cluster as it was made for its pool.
type made struct {
	EffectiveTags            map[string]string
	Spec                     clusters.Spec
	Name, BaseDomain, Region string
}

// leaves takes a cluster out of its pool, and keeps what it was there.
const leaves = `
	waited = jsonb_build_object('requested_by', requested_by, 'team', team, 'owner', owner, 'cost_center', cost_center, 'environment', environment,
		'source', source, 'installation', installation, 'repo', repo, 'pr_number', pr_number, 'pr_head', pr_head, 'effective_tags', effective_tags,
		'request_tags', request_tags, 'created_at', created_at, 'ready_at', ready_at, 'destroyed_at', @now::timestamptz, 'desired', 'absent',
		'meter_month', meter_month, 'month_amount', month_amount, 'month_node_hours', month_node_hours),
	pooled = false, claimed_at = @now, month_amount = 0, month_node_hours = 0`

// Claimed is who claimed a cluster after the backup from which the database was restored. An empty field is not known.
type Claimed struct {
	Owner, Team, CostCenter, Environment, RequestedBy, Source string
	Tags                                                      map[string]string
	Until                                                     time.Time       // its end; always known
	PR                                                        *clusters.PRRef // of whose it is; nil: of none
	Generation                                                int             // of the clusters of that; zero: not known
}

// RestoreClaim takes a locked cluster out of its pool that was claimed after the backup, so that nobody else gets it and its pool does not end
// it. What is not known of the claim stays as it was. From now on it costs whoever claimed it.
func RestoreClaim(ctx context.Context, c *db.Tx, cur usage.Held, by Claimed) error {
	if err := usage.Sample(ctx, c, cur, cur.Cluster); err != nil {
		return err
	}
	args := pgx.NamedArgs{
		"owner": by.Owner, "team": by.Team, "cost_center": by.CostCenter, "environment": by.Environment, "requested_by": by.RequestedBy, "source": by.Source,
		"tags": by.Tags, "until": by.Until, "now": c.Now, "generation": by.Generation,
	}
	maps.Copy(args, ofPullRequest(by.PR))
	return clusters.SetDesired(ctx, c, cur.ID, leaves+`, generation = coalesce(nullif(@generation, 0), generation), `+setPullRequest+`,
		owner = coalesce(nullif(@owner, ''), owner), team = coalesce(nullif(@team, ''), team), cost_center = coalesce(nullif(@cost_center, ''), cost_center),
		environment = coalesce(nullif(@environment, ''), environment), requested_by = coalesce(nullif(@requested_by, ''), requested_by),
		source = coalesce(nullif(@source, ''), source), effective_tags = CASE WHEN @owner = '' THEN effective_tags ELSE @tags END,
		end_max = greatest(end_max, @until), end_ttl = @until`, args)
}

// setPullRequest makes a cluster one of the pull request of ofPullRequest.
const setPullRequest = `installation = @installation, repo = @repo, pr_number = @number, pr_head = @head,
	repo_id = coalesce((SELECT p.repo_id FROM pull_requests p WHERE p.repo = @repo AND p.number = @number), 0)`

func ofPullRequest(pr *clusters.PRRef) pgx.NamedArgs {
	if pr == nil {
		return pgx.NamedArgs{"installation": nil, "repo": nil, "number": nil, "head": nil}
	}
	return pgx.NamedArgs{"installation": pr.Installation, "repo": pr.Repo, "number": pr.Number, "head": pr.Head}
}

// take makes the locked cluster that of the claim.
func take(ctx context.Context, c *db.Tx, cur usage.Held, r Request, lifetime time.Duration) error {
	was, err := db.One[made](ctx, c, `SELECT effective_tags, spec, name, base_domain, region FROM clusters WHERE id = $1`, cur.ID)
	if err != nil {
		return fmt.Errorf("read what was made of %s: %w", cur.ID, err)
	}
	if err := usage.Sample(ctx, c, cur, cur.Cluster); err != nil { // until now, it costs its pool
		return err
	}
	next := cur.Cluster
	next.AskWork(lifecycle.Prepare)
	if r.Access {
		next.AskWork(lifecycle.Access)
	}
	next.ResetWork(lifecycle.Sleep)
	next.ResetWork(lifecycle.Wake)
	if next.Addons, err = addAddons(ctx, c, cur, was, r); err != nil {
		return err
	}
	if len(next.Addons) > len(cur.Addons) {
		next.AskWork(lifecycle.Configure)
	}
	next.OffHours, next.Idle, next.UseExtends, next.WarnBefore = r.Row.OffHours, r.Row.Idle, r.Row.UseExtends, r.Row.WarnBefore
	args := clusters.LifecycleArgs(next)
	maps.Copy(args, pgx.NamedArgs{
		"owner": r.Row.Owner, "team": r.Row.Team, "cost_center": r.Row.CostCenter, "environment": r.Row.Environment, "requested_by": r.Row.RequestedBy,
		"source": r.Row.Source, "generation": max(r.Row.Generation, 1), "ttl": r.Row.TTL, "weight": max(r.Weight, 1), "priority": r.Row.Priority, "user_tags": r.UserTags,
		"tags": tagsOf(was, r.Row), "spec": specOf(was, r.Row), "changed_work": clusters.ChangedWork(cur.Cluster, next),
		"addons": append([]string{}, next.Addons...), "until": c.Now.Add(r.Row.TTL), "most": c.Now.Add(r.MaxTTL), "claim_ends": (*time.Time)(nil), "retry_of": r.RetryOf,
	})
	maps.Copy(args, ofPullRequest(r.Row.PR))
	if lifetime > 0 {
		args["claim_ends"] = c.Now.Add(lifetime)
	}
	if r.UserTags == nil {
		args["user_tags"] = map[string]string{}
	}
	err = clusters.SetDesired(ctx, c, cur.ID, leaves+`, created_at = @now, ready_at = NULL,
		owner = @owner, team = @team, cost_center = @cost_center, environment = @environment, requested_by = @requested_by, source = @source,
		generation = @generation, ttl = @ttl, weight = @weight, priority = @priority, request_tags = @user_tags, effective_tags = @tags, spec = @spec,
		`+setPullRequest+`, retry_of = nullif(@retry_of, ''),
		end_ttl = least(@until::timestamptz, @most::timestamptz), end_max = @most, end_claim = @claim_ends, end_hold = NULL, hold_why = '', hold_source = '',
		warn_before = @warn_before, warned_end = NULL, warned_before = '0', off_hours = @off_hours, idle_tell = @idle_tell, idle_sleep = @idle_sleep,
		idle_end = @idle_end, addons = @addons, use_extends = @use_extends, active_at = NULL, active_what = '', idle_told = NULL, awake_until = NULL,
		sleep_wanted = false, sleep_until = NULL, sleep_why = '', power_by = '', work = work || @changed_work`, args)
	if err != nil {
		return err
	}
	return endRights(ctx, c, cur.ID)
}

// addAddons stores the add-ons of the request that the cluster lacks behind those that it has, and returns the names of all.
func addAddons(ctx context.Context, c *db.Tx, cur usage.Held, was made, r Request) ([]string, error) {
	names := slices.Clone(cur.Addons)
	if !slices.ContainsFunc(r.Row.Addons, func(name string) bool { return !slices.Contains(names, name) }) {
		return names, nil
	}
	all, err := r.AddonsOf(was.Name, was.BaseDomain, was.Region)
	if err != nil {
		return nil, err
	}
	var b db.Batch
	for _, a := range all {
		if slices.Contains(names, a.Name) {
			continue
		}
		names = append(names, a.Name)
		if err := clusters.QueueAddon(&b, cur.ID, len(names), a); err != nil {
			return nil, err
		}
	}
	return names, c.Send(ctx, &b)
}

// endRights ends what others hold of a cluster that was just claimed. Policy gives nobody any of it while it waits, but a release before this one did.
func endRights(ctx context.Context, c *db.Tx, cluster string) error {
	d := clusters.Origin{Actor: db.Lifecycle, Why: "it was claimed from its pool"}
	if _, err := access.Revoke(ctx, c, cluster, access.Every, nil, d); err != nil {
		return err
	}
	if _, err := c.Exec(ctx, `DELETE FROM shares WHERE cluster_id = $1`, cluster); err != nil {
		return fmt.Errorf("end the shares of %s: %w", cluster, err)
	}
	return clusters.WithdrawHandover(ctx, c, cluster, d)
}

// tagsOf are the cluster's tags from now on: its new owner's, with what names the cluster itself as it was.
func tagsOf(was made, next clusters.Row) map[string]string {
	tags := maps.Clone(next.Tags)
	for _, key := range []string{tagkey.ClusterID, tagkey.ClusterName, tagkey.Installation} {
		tags[key] = was.EffectiveTags[key]
	}
	return tags
}

// specOf is the cluster's own specification, with what belongs to the request.
func specOf(was made, next clusters.Row) clusters.Spec {
	spec := was.Spec
	spec.Grace, spec.RunGrace, spec.AccessMost = next.Spec.Grace, next.Spec.RunGrace, next.Spec.AccessMost
	spec.Advice, spec.Mention, spec.OffHoursChosen, spec.Notify = next.Spec.Advice, next.Spec.Mention, next.Spec.OffHoursChosen, next.Spec.Notify
	spec.RegionUsual = next.Spec.RegionUsual
	return spec
}
