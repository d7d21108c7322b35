package statistics

import (
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/usage"
)

// Parts of the queries. A cluster c is selected by its team alone; when something happened is up to each query.
const (
	isSelected  = `(@teams::text[] IS NULL OR c.team = ANY (@teams))`
	failed      = `a.outcome IN ('failed', 'lost') AND ` + usage.RanSQL + ` AND a.closed_at >= @from AND a.closed_at < @to`
	allFirst    = ` WHERE clusters > 0 ORDER BY profile NULLS FIRST`
	profileName = `coalesce(profile, '') AS profile`
)

const inventory = `
	SELECT c.team, c.profile, c.status, count(*) AS clusters, min(c.created_at) AS oldest, sum(c.meter_cents)::bigint AS hourly_cents
	FROM clusters c WHERE c.destroyed_at IS NULL AND ` + isSelected + ` GROUP BY c.team, c.profile, c.status ORDER BY c.team, c.profile, c.status`

const oldest = `
	SELECT c.id, c.name, c.team, c.owner, c.profile, c.status, c.created_at, c.destroy_at, c.meter_cents::bigint AS hourly_cents
	FROM clusters c WHERE c.destroyed_at IS NULL AND ` + isSelected + ` ORDER BY c.created_at, c.id LIMIT 20`

const ages = `
	SELECT width_bucket(greatest(0, date_part('epoch', @now - c.created_at)), @bounds::float8[]) AS bar, count(*) AS clusters
	FROM clusters c WHERE c.destroyed_at IS NULL AND ` + isSelected + ` GROUP BY 1`

// lives has the clusters of which something happened in the time or later. Nothing of a cluster happens after it is gone. One that was
// abandoned counts once: when nothing was left of it, and until then when the admin abandoned it.
const lives = `
	SELECT c.profile, ` + usage.RequestedSQL + `, c.created_at, c.ready_at, c.destroyed_at, c.teardown_at, c.abandoned, ` + wasBlocked + `
	FROM clusters c WHERE c.destroyed_at >= @from AND ` + isSelected + `
	UNION ALL SELECT c.profile, ` + usage.RequestedSQL + `, c.created_at, c.ready_at, NULL, NULL, c.abandoned AND EXISTS (
		SELECT FROM audit_events e WHERE e.target_cluster_id = c.id AND e.action = 'abandon_asked' AND e.created_at >= @from AND e.created_at < @to), ` + wasBlocked + `
	FROM clusters c WHERE c.destroyed_at IS NULL AND (c.created_at >= @from OR c.ready_at >= @from OR c.abandoned) AND ` + isSelected

const wasBlocked = `c.id IN (SELECT f.cluster_id FROM findings f WHERE f.kind = 'blocked')`

const failedCreates = `SELECT a.closed_at FROM attempts a JOIN clusters c ON c.id = a.cluster_id WHERE a.kind = 'create' AND ` + failed + ` AND ` + isSelected

const failures = `
	SELECT a.kind, coalesce(nullif(a.reason, ''), a.outcome) AS reason, c.profile, count(*) AS attempts, count(DISTINCT c.id) AS clusters, max(a.closed_at) AS last_at
	FROM attempts a JOIN clusters c ON c.id = a.cluster_id WHERE ` + failed + ` AND ` + isSelected + `
	GROUP BY 1, 2, 3 ORDER BY attempts DESC, 1, 2, 3 LIMIT 500`

// unused counts how clusters ended and fell asleep that nobody used. Only a job to sleep that a person asked for has an event that names it,
// so the others of this type are because of idleness. A job succeeded when the cluster was seen asleep. Time asleep is what the meter counted
// at a lower price, or without a running machine; it is cut and rounded as in reports of usage, whose sums of what was saved are the same.
var unused = `
	WITH among AS (
		SELECT c.id, c.profile, c.workers_base, c.nodes, c.destroyed_at, c.held_from, c.held_until
		FROM ` + usage.HeldSQL + ` JOIN (SELECT DISTINCT cluster_id FROM usage_samples WHERE stopped OR saved_hourly > 0) u ON u.cluster_id = c.id
		WHERE c.created_at < @to AND (c.destroyed_at IS NULL OR c.destroyed_at > @from) AND ` + isSelected + `
	), spans AS (` + usage.SpansSQL + `
	), asleep AS (
		SELECT cluster_id, held_from, sum(ms) / 3600000.0 AS hours, ` + usage.CentsSQL("sum(ms * less)::bigint") + ` AS cents FROM (
			SELECT cluster_id, held_from, less, greatest(0, ` + usage.MillisSQL("least(until, @now)") + ` - ` + usage.MillisSQL("since") + `) AS ms
			FROM spans WHERE runs AND (stopped OR less > 0)) s
		GROUP BY cluster_id, held_from HAVING sum(ms) > 0
	), happened AS (
		SELECT c.profile, 'ended' AS what, 0 AS hours, 0 AS cents FROM clusters c
		WHERE c.destroyed_at >= @from AND c.destroyed_at < @to AND c.teardown = '` + string(lifecycle.JobJanitorDestroy) + `' AND c.desired_why ->> 'code' = '` + string(lifecycle.ReasonIdle) + `' AND ` + isSelected + `
		UNION ALL SELECT c.profile, CASE WHEN j.job_type = '` + string(lifecycle.JobOffHoursDown) + `' THEN 'hours' WHEN EXISTS (
			SELECT FROM audit_events e WHERE e.target_cluster_id = c.id AND e.action = 'sleep_asked' AND e.metadata ->> 'job' = j.id) THEN 'asked' ELSE 'idle' END, 0, 0
		FROM jobs j JOIN clusters c ON c.id = j.cluster_id
		WHERE j.job_type IN ('` + string(lifecycle.JobSleep) + `', '` + string(lifecycle.JobOffHoursDown) + `') AND j.status = 'SUCCEEDED' AND j.ended_at >= @from AND j.ended_at < @to AND ` + isSelected + `
		UNION ALL SELECT a.profile, 'asleep', s.hours, s.cents FROM asleep s JOIN among a ON (a.id, a.held_from) = (s.cluster_id, s.held_from)
	)
	SELECT ` + profileName + `, ended, slept_idle, slept_off_hours, slept_asked, asleep_hours, saved_cents FROM (
		SELECT profile, count(*) AS clusters, count(*) FILTER (WHERE what = 'ended') AS ended, count(*) FILTER (WHERE what = 'idle') AS slept_idle,
			count(*) FILTER (WHERE what = 'hours') AS slept_off_hours, count(*) FILTER (WHERE what = 'asked') AS slept_asked,
			sum(hours)::float8 AS asleep_hours, sum(cents)::bigint AS saved_cents
		FROM happened GROUP BY GROUPING SETS ((profile), ())) AS u` + allFirst

// leaks are orphans that people were told of. Another installation's resources are none, nor is what somebody exempted. What one cost is
// its price in an hour for as long as it was seen; NULL if the price of nothing of it is known.
const leaks = `
	SELECT coalesce(nullif(o.identity, ''), nullif(o.cluster_tag, ''), nullif(o.place, ''), 'installation ' || o.installation) AS identity, o.class,
		coalesce(o.cluster_id, '') AS cluster, coalesce(nullif(o.name, ''), c.name, '') AS name, coalesce(nullif(o.team, ''), c.team, '') AS team, o.why,
		o.first_seen_at, o.last_seen_at, o.gone_at AS resolved_at, o.unpriced,
		round(o.hourly_cents * greatest(0, extract(epoch FROM coalesce(o.gone_at, @now) - o.first_seen_at))::float8 / 3600)::bigint AS cents
	FROM orphans o LEFT JOIN clusters c ON c.id = o.cluster_id
	WHERE o.reported_at IS NOT NULL AND o.class <> 'foreign' AND o.state <> 'exempt' AND o.first_seen_at < @to AND (o.gone_at IS NULL OR o.gone_at >= @from)
		AND (@teams::text[] IS NULL OR o.team = ANY (@teams))
	ORDER BY o.first_seen_at DESC, o.id DESC LIMIT 500`
