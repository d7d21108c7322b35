// Package recovery brings a database that was restored from a backup up to what the bucket and the cloud show: clusters and attempts that
// are newer than the backup.
//
// It deletes nothing outside. Every cluster that it finds gets a row and an audit line first; what happens to it then is the lifecycle's
// decision, and a teardown is an ordinary one with its count. Running it again changes nothing.
package recovery

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/internal/artifacts"
	"github.com/ocpctl/ocpctl/internal/cloudtags"
	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/internal/names"
	"github.com/ocpctl/ocpctl/internal/tagkey"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
)

// Searched is the cloud that Run searches by tags. What others have is found by scans of their accounts.
const Searched = names.AWS

// Cloud lists tagged resources, cloudtags.Client.
type Cloud interface {
	Tagged(ctx context.Context, region, key, value string) ([]cloudtags.Resource, error)
}

// Config says what is compared with what.
type Config struct {
	Store        *store.Store
	Bucket       *artifacts.Store
	BucketName   string
	Cloud        Cloud
	Regions      []string // in which the cloud is searched, besides those that the bucket names
	Installation string
	BaseDomain   func(platform string) string // of clusters that only tags tell of; nil or empty: such clusters need a person
	Version      func(platform string) string // whose destroyer is used if nothing tells a cluster's; nil or empty: such clusters need a person
	Spec         func(platform, version string) clusters.Spec
	Since        time.Duration // only what was stored in this time is read; zero: everything
	Keep         time.Duration // how long a ready cluster that was unknown is kept, and how early a known one may end
	Wait         time.Duration // until runners of which the database knows nothing have certainly stopped
	DryRun       bool          // write nothing
	Log          *slog.Logger
}

// Line is what was found of one cluster, and what was done.
type Line struct {
	Cluster, Name string
	Found         string // where it was found
	Done          string
	Why           string
	Person        bool // somebody has to look at it
}

// Run compares, writes and returns a line for each cluster of which something was new. An error means that the comparison is incomplete;
// the lines still tell what was done.
func Run(ctx context.Context, cfg Config) ([]Line, error) {
	traces, err := cfg.listTraces(ctx)
	if err != nil {
		return nil, err
	}
	r := &run{Config: cfg, seen: map[string]*cluster{}}
	// What an attempt stored is listed before the rows are read, so that every cluster that was accepted normally has a row by then.
	if r.view, err = cfg.Store.RecoveryView(ctx, cfg.Keep); err != nil {
		return nil, err
	}
	for _, t := range traces {
		r.clusterOf(t.Cluster).addTrace(t)
	}
	var failed []error
	for _, id := range slices.Sorted(maps.Keys(r.seen)) {
		failed = append(failed, r.readDocuments(ctx, r.seen[id]))
	}
	failed = append(failed, r.searchCloud(ctx))
	if r.view, err = cfg.Store.RecoveryView(ctx, cfg.Keep); err != nil {
		return nil, errors.Join(append(failed, err)...)
	}
	for _, id := range r.orderClusters() {
		if !r.seen[id].unread {
			failed = append(failed, r.recoverCluster(ctx, r.seen[id]))
		}
	}
	began := r.view.Now
	if r.view, err = cfg.Store.RecoveryView(ctx, cfg.Keep); err != nil { // some are ready only now
		return r.lines, errors.Join(append(failed, err)...)
	}
	r.view.Now = began // the ends that were set count from it
	failed = append(failed, r.liftDrains(ctx), r.postponeEnds(ctx))
	failed = append(failed, r.keepFindings(ctx, errors.Join(failed...) == nil))
	return r.lines, errors.Join(failed...)
}

// listTraces lists what attempts stored.
func (c Config) listTraces(ctx context.Context) ([]artifacts.Trace, error) {
	if c.Since == 0 {
		return c.Bucket.Traces(ctx, time.Time{})
	}
	now, err := c.Store.Now(ctx)
	if err != nil {
		return nil, err
	}
	return c.Bucket.Traces(ctx, now.Add(-c.Since))
}

// run is one comparison.
type run struct {
	Config
	view     store.RecoveryView
	seen     map[string]*cluster // by id
	findings []lifecycle.Finding
	lines    []Line
}

func (r *run) clusterOf(id string) *cluster {
	if r.seen[id] == nil {
		r.seen[id] = &cluster{id: id, attempts: map[int]*attempt{}}
	}
	return r.seen[id]
}

// orderClusters returns the known clusters before the unknown ones: a known one that is torn down by now gives its pull request free.
func (r *run) orderClusters() []string {
	ids := slices.Sorted(maps.Keys(r.seen))
	slices.SortStableFunc(ids, func(a, b string) int {
		_, known := r.view.Clusters[a]
		_, other := r.view.Clusters[b]
		switch {
		case known == other:
			return 0
		case known:
			return -1
		}
		return 1
	})
	return ids
}

// readDocuments reads the documents of the attempts that are newer than the database.
func (r *run) readDocuments(ctx context.Context, c *cluster) error {
	known, there := r.view.Clusters[c.id]
	if there && known.Status == lifecycle.Destroyed {
		return nil
	}
	var failed []error
	for _, number := range c.attemptNumbers() {
		a := c.attempts[number]
		if there && number <= known.Newest && number != known.Open && a.kind != contract.KindCreate {
			continue
		}
		if err := r.readAttempt(ctx, c, a); err != nil {
			failed = append(failed, fmt.Errorf("cluster %s, attempt %d: %w", c.id, number, err))
		}
	}
	return errors.Join(failed...)
}

// searchCloud adds what the cloud shows under this installation's tag.
func (r *run) searchCloud(ctx context.Context) error {
	regions := map[string]bool{"us-east-1": true}
	for _, region := range r.Regions {
		regions[region] = true
	}
	for _, known := range r.view.Clusters {
		if known.Status != lifecycle.Destroyed && known.Platform == Searched {
			regions[known.Region] = true
		}
	}
	for _, c := range r.seen {
		if record := c.newestRecord(); record != nil && record.Region != "" && record.Platform == Searched {
			regions[record.Region] = true
		}
	}
	var failed []error
	for _, region := range slices.Sorted(maps.Keys(regions)) {
		found, err := r.Cloud.Tagged(ctx, region, tagkey.Installation, r.Installation)
		failed = append(failed, err)
		for _, resource := range found {
			r.addResource(region, resource)
		}
	}
	return errors.Join(failed...)
}

func (r *run) addResource(region string, resource cloudtags.Resource) {
	if id := resource.Tags[tagkey.ClusterID]; strings.HasPrefix(id, "clu_") {
		r.clusterOf(id).addResource(Searched, region, resource)
		return
	}
	r.findings = append(r.findings, lifecycle.Finding{
		Kind: lifecycle.Orphan, Identity: resource.ARN, Since: r.view.Now, Evidence: []string{resource.ARN},
		Why: "it carries this installation's tag, but no cluster's id",
	})
	r.lines = append(r.lines, Line{Name: resource.ARN, Found: "cloud", Done: "nothing", Why: "it carries this installation's tag, but no cluster's id", Person: true})
}

// recoverCluster writes what is new of one cluster.
func (r *run) recoverCluster(ctx context.Context, c *cluster) error {
	known, there := r.view.Clusters[c.id]
	var p plan
	if there {
		p = r.planKnown(c, known)
	} else {
		p = r.planUnknown(c)
	}
	if p.person != "" {
		r.needsPerson(c, p, p.person)
		return nil
	}
	if len(p.write.Attempts) == 0 && p.write.New == nil {
		return nil
	}
	line := Line{Cluster: c.id, Name: p.name, Found: strings.Join(p.write.Found, ", "), Done: p.done, Why: p.write.Why}
	if r.DryRun {
		r.lines = append(r.lines, line)
		return nil
	}
	wrote, err := r.Store.Recover(ctx, p.write)
	if wrong := errors.Is(err, db.ErrNameTaken) || errors.Is(err, db.ErrConflict); wrong && p.leavePullRequest() {
		wrote, err = r.Store.Recover(ctx, p.write)
	}
	switch {
	case errors.Is(err, db.ErrNameTaken):
		r.needsPerson(c, p, "a living cluster has its name "+p.name+"; run the recovery again after that one is destroyed")
		return nil
	case errors.Is(err, db.ErrConflict):
		r.needsPerson(c, p, "what was found contradicts the database: "+err.Error())
		return nil
	case err != nil:
		return err
	case wrote:
		r.lines = append(r.lines, line)
		r.Log.Info("recovered", "cluster", c.id, "done", p.done, "why", p.write.Why)
	}
	return nil
}

func (r *run) needsPerson(c *cluster, p plan, why string) {
	evidence := append(slices.Clone(c.arns), c.listPlaces()...)
	r.findings = append(r.findings, lifecycle.Finding{Kind: lifecycle.Orphan, Identity: c.id, Since: r.view.Now, Why: why, Evidence: evidence})
	r.lines = append(r.lines, Line{Cluster: c.id, Name: p.name, Found: strings.Join(c.whereSeen(), ", "), Done: "nothing", Why: why, Person: true})
}

// liftDrains takes the ends away that admins' drains set: they may have been thawed after the backup.
func (r *run) liftDrains(ctx context.Context) error {
	const why = "the database was restored from a backup; a thaw may have been lost"
	var ids []string
	for _, id := range slices.Sorted(maps.Keys(r.view.Clusters)) {
		if known := r.view.Clusters[id]; known.Drained {
			ids = append(ids, id)
			r.lines = append(r.lines, Line{Cluster: id, Name: known.Name, Found: "database", Done: "no longer drained", Why: why + ": to drain again, thaw the freeze and freeze anew"})
		}
	}
	if r.DryRun {
		return nil
	}
	return r.Store.Brakes.Undrain(ctx, ids, clusters.Origin{Actor: store.Recovery, Source: store.Recovery, Why: why})
}

// postponeEnds holds ready clusters whose end comes soon: it may have been extended after the backup, and its owner has to see that it was
// lost.
func (r *run) postponeEnds(ctx context.Context) error {
	var failed []error
	for _, id := range slices.Sorted(maps.Keys(r.view.Clusters)) {
		known := r.view.Clusters[id]
		until := earlierOf(r.view.Now.Add(r.Keep), known.Max)
		if known.Status != lifecycle.Ready || known.Desired != lifecycle.Present || known.Held || !known.DestroyAt.Before(until) || !until.After(r.view.Now) {
			continue
		}
		if c := r.seen[id]; c != nil && c.hasTeardownAfter(known.Newest) {
			continue
		}
		const why = "the database was restored from a backup; an extension may have been lost"
		line := Line{Cluster: id, Name: known.Name, Found: "database", Done: "held until " + until.UTC().Format("15:04 MST on 2 January"), Why: why}
		if !r.DryRun {
			_, err := r.Store.Hold(ctx, id, until, clusters.Origin{Actor: store.Recovery, Source: store.Recovery, Why: why})
			if errors.Is(err, db.ErrConflict) {
				continue // it went away meanwhile
			}
			if err != nil {
				failed = append(failed, err)
				continue
			}
		}
		r.lines = append(r.lines, line)
	}
	return errors.Join(failed...)
}

// keepFindings stores what needs a person. What an earlier run found and a complete one did not is resolved.
func (r *run) keepFindings(ctx context.Context, complete bool) error {
	if r.DryRun {
		return nil
	}
	var judged []lifecycle.FindingKind
	if complete {
		judged = append(judged, lifecycle.Orphan)
	}
	_, err := r.Store.Reports.SaveFindings(ctx, judged, r.findings)
	return err
}
