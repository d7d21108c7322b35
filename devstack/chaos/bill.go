package chaos

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/devstack/must"
	"github.com/ocpctl/ocpctl/devstack/pick"
)

// mostError is how much what is reported may differ from what the cloud's meter counts.
const mostError = 0.01

// cost is what clusters cost, in cents: as the product reports it, and by the cloud's own meter.
type cost struct {
	clusters                 int
	reported, saved, metered float64
}

func (c *cost) add(other cost) {
	c.clusters, c.reported, c.saved, c.metered = c.clusters+other.clusters, c.reported+other.reported, c.saved+other.saved, c.metered+other.metered
}

// off is how much the report differs from the meter, as a part of the meter's. Below a cent it says nothing.
func (c *cost) off() float64 {
	if c.metered < 1 {
		return 0
	}
	return c.reported/c.metered - 1
}

// printNights prints how the nights went, what they cost, and what was forgotten, and returns an error unless nothing was and the report
// agrees with the cloud's meter.
func (t *Run) printNights(ctx context.Context, done []*cycle) (err error) {
	defer must.Catch(&err)
	jobs := must.Get(t.jobsByType(ctx))
	killed := map[string]int{}
	for _, c := range done {
		if c.killed {
			killed[c.killIn]++
		}
	}
	t.say("\njobs: %s", jobs)
	t.say("runners killed while a cluster fell asleep: %d, while it woke: %d", killed["going_to_sleep"], killed["waking"])
	costs := must.Get(t.costs(ctx))
	errs := pick.Map(t.clouds, func(cloud string) error { return t.printCosts(cloud, done, costs[cloud]) })
	return errors.Join(append(errs, t.printForgotten(ctx))...)
}

// jobsByType counts the jobs that put clusters to sleep or woke them, with why some failed: a later wish ends an earlier one.
func (t *Run) jobsByType(ctx context.Context) (text string, err error) {
	err = t.pool.QueryRow(ctx, `
		SELECT coalesce(string_agg(format('%s %s %s%s', kind, state, n, why), ', '), 'none') FROM (
			SELECT job_type AS kind, lower(status) AS state, count(*) AS n, coalesce(' (' || nullif(error_message, '') || ')', '') AS why FROM jobs
			WHERE job_type IN ('SLEEP', 'WAKE', 'OFFHOURS_SCALE_DOWN', 'OFFHOURS_SCALE_UP') GROUP BY 1, 2, 4 ORDER BY 1, 2) j`).Scan(&text)
	if err != nil {
		return "", fmt.Errorf("count jobs: %w", err)
	}
	return text, nil
}

// costs returns what each cluster cost, by its cloud and name: by the report that people read, and by the cloud's meter. What the meter knows
// to be no cluster's has no name.
func (t *Run) costs(ctx context.Context) (_ map[string]map[string]cost, err error) {
	defer must.Catch(&err)
	clusters := must.Get(t.clustersByID(ctx))
	metered := must.Get(t.Metered())
	costs := map[string]map[string]cost{}
	add := func(cloud, cluster string, more cost) {
		sum := costs[cloud][cluster]
		sum.add(more)
		costs[cloud][cluster] = sum
	}
	for cloud, byID := range metered {
		costs[cloud] = map[string]cost{}
		for id, cents := range byID {
			add(cloud, clusters[id].Name, cost{metered: cents})
		}
	}
	report := must.Get(t.usage(ctx))
	for _, line := range report.Items {
		of, known := clusters[strings.ToLower(line.Key)]
		must.FailIf(!known, "the report has a line of a cluster that does not exist: %+v", line)
		add(of.Platform, of.Name, cost{reported: float64(line.Cents), saved: float64(line.SavedCents)})
	}
	return costs, nil
}

// usage is what people read of what each cluster cost.
func (t *Run) usage(ctx context.Context) (report v1.UsageReport, err error) {
	defer must.Catch(&err)
	raw := must.Get(t.ocpctl(ctx, "admin", "report", "usage", "--by", "cluster", "--from", "30d", "-o", "json"))
	must.Wrap(json.Unmarshal([]byte(raw), &report), "read the report")
	sum := int64(0)
	for _, line := range report.Items {
		sum += line.Cents
	}
	must.FailIf(sum != report.Total.Cents, "the lines of the report add up to %d cents, and its total is %d", sum, report.Total.Cents)
	return report, nil
}

// printCosts prints what the clusters on a cloud cost by how they spent the night, and the cluster that differs most. It returns an error
// unless the report agrees with the cloud's meter, and the meter knows whose everything was.
func (t *Run) printCosts(cloud string, done []*cycle, costs map[string]cost) error {
	var all cost
	byNight, worst, worstName := map[string]*cost{}, 0.0, "none"
	for _, c := range done {
		if c.cloud != cloud {
			continue
		}
		of := costs[c.name]
		of.clusters = 1
		delete(costs, c.name)
		name := cmp.Or(map[bool]string{false: "not ready, ended in the morning"}[c.ready], c.night.name)
		if byNight[name] == nil {
			byNight[name] = &cost{}
		}
		byNight[name].add(of)
		all.add(of)
		if off := of.off(); c.ready && math.Abs(off) > math.Abs(worst) {
			worst, worstName = off, c.name
		}
	}
	unknown := cost{}
	for _, of := range costs {
		unknown.add(of)
	}
	all.add(unknown)
	t.say("\n%-32s %8s %12s %12s %12s %9s", "night on "+cloud, "clusters", "reported", "metered", "saved", "off by")
	row := func(name string, c *cost) {
		t.say("%-32s %8d %11.2f$ %11.2f$ %11.2f$ %8.2f%%", name, c.clusters, c.reported/100, c.metered/100, c.saved/100, 100*c.off())
	}
	for _, name := range slices.Sorted(maps.Keys(byNight)) {
		row(name, byNight[name])
	}
	row("of no cluster of the soak", &unknown)
	row("all", &all)
	t.say("of those that were ready, %s differs most: %.2f %%", worstName, 100*worst)
	if all.metered < 1 || math.Abs(all.off()) > mostError {
		return fmt.Errorf("on %s the report says %.2f $ and the cloud's meter %.2f $, which differs by more than %.0f %%",
			cloud, all.reported/100, all.metered/100, 100*mostError)
	}
	if unknown.metered > mostError*all.metered {
		return fmt.Errorf("on %s the cloud's meter counts %.2f $ for no cluster of the soak", cloud, unknown.metered/100)
	}
	return nil
}

// listed is what the database says of a cluster.
type listed struct{ ID, Name, Platform string }

// clustersByID returns all clusters by their ids in lower case.
func (t *Run) clustersByID(ctx context.Context) (map[string]listed, error) {
	rows, err := t.pool.Query(ctx, "SELECT id, name, platform FROM clusters")
	if err != nil {
		return nil, err
	}
	all, err := pgx.CollectRows(rows, pgx.RowToStructByPos[listed])
	byID := map[string]listed{}
	for _, c := range all {
		byID[strings.ToLower(c.ID)] = c
	}
	return byID, err
}

// printForgotten counts everything that could have been forgotten, and returns an error if anything was.
func (t *Run) printForgotten(ctx context.Context) (err error) {
	defer must.Catch(&err)
	found := must.Get(t.scan(ctx))
	counts := []struct {
		what, sql string
		n         int
	}{
		{"clusters that are not released", "SELECT count(*) FROM clusters WHERE destroyed_at IS NULL OR status <> 'DESTROYED' OR phase <> 'released'", 0},
		{"attempts that are open", "SELECT count(*) FROM attempts WHERE closed_at IS NULL", 0},
		{"jobs that are open", "SELECT count(*) FROM jobs WHERE status IN ('PENDING', 'RUNNING', 'RETRYING')", 0},
		{"runners in the queue", "SELECT count(*) FROM runner_queue", 0},
		{"resources of ours that a scan finds", "", len(found)},
		{"resources in the stand-in cloud", "", len(t.Left(""))},
	}
	t.say("\nforgotten:")
	var errs []error
	for _, c := range counts {
		if c.sql != "" {
			must.Wrap(t.pool.QueryRow(ctx, c.sql).Scan(&c.n), "count %s", c.what)
		}
		t.say("  %-38s %d", c.what, c.n)
		if c.n > 0 {
			errs = append(errs, fmt.Errorf("%d %s", c.n, c.what))
		}
	}
	for _, o := range found {
		errs = append(errs, fmt.Errorf("the scan found %s of class %s: %v", o.OrphanID, o.Class, o.Evidence))
	}
	return errors.Join(errs...)
}

// scan has the accounts of all clouds looked through, and returns what is left over of clusters of this installation.
func (t *Run) scan(ctx context.Context) (_ []v1.Orphan, err error) {
	defer must.Catch(&err)
	raw := must.Get(t.ocpctl(ctx, "admin", "admin", "scan", "-o", "json"))
	var open v1.Scans
	if err := json.Unmarshal([]byte(raw), &open); err != nil || len(open.Items) == 0 {
		return nil, fmt.Errorf("read which scans were opened: %s: %w", raw, err)
	}
	for _, s := range open.Items {
		must.Wrap(t.until(ctx, "SELECT count(*) = 1 FROM scans WHERE id = $1 AND judged_at IS NOT NULL AND outcome = 'succeeded'", s.ScanID), "the scan of the account %s on %s", s.Account, s.Platform)
	}
	raw = must.Get(t.ocpctl(ctx, "admin", "admin", "orphans", "-o", "json"))
	var page v1.OrphanPage
	must.Wrap(json.Unmarshal([]byte(raw), &page), "read what the scan found")
	return slices.DeleteFunc(page.Items, func(o v1.Orphan) bool {
		return o.Class != "released" && o.Class != "unknown" && o.Class != "unrecorded"
	}), nil
}
