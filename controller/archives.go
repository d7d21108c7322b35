package controller

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/riverqueue/river"

	"github.com/ocpctl/ocpctl/internal/artifacts"
	"github.com/ocpctl/ocpctl/internal/queue"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/reports"
)

// archivesEvery is how often the bucket is compared with the database. Listing it costs one call for each thousand clusters.
const archivesEvery = 24 * time.Hour

// Archives lists the folders of clusters in the bucket: *artifacts.Store.
type Archives interface {
	EachCluster(ctx context.Context, do func([]artifacts.Folder) error) error
}

type archivesWorker struct {
	river.WorkerDefaults[queue.ArchivesArgs]
	c *Controller
}

// Timeout is for many pages of the bucket, each with a deadline of its own.
func (w *archivesWorker) Timeout(*river.Job[queue.ArchivesArgs]) time.Duration {
	return 10 * time.Minute
}

// Work makes a finding of each cluster that has objects in the bucket and no row. It deletes nothing: if the database was restored from a
// backup, these objects are all that is known of the cluster. An incomplete look changes no finding.
func (w *archivesWorker) Work(ctx context.Context, _ *river.Job[queue.ArchivesArgs]) error {
	if w.c.Archives == nil {
		return nil
	}
	folders, err := w.c.unknownFolders(ctx)
	if err != nil {
		return fmt.Errorf("compare the bucket with the database: %w", err)
	}
	open, err := w.c.Store.Reports.Findings(ctx, reports.FindingFilter{Kind: lifecycle.ArchiveUnknown})
	if err != nil {
		return err
	}
	since := make(map[string]time.Time, len(open))
	for _, f := range open {
		since[f.Identity] = f.Since
	}
	now, err := w.c.Store.Now(ctx)
	if err != nil {
		return err
	}
	var found []lifecycle.Finding
	for _, folder := range folders {
		f := lifecycle.Finding{
			Kind: lifecycle.ArchiveUnknown, Identity: folder.Cluster, Since: now, Evidence: []string{folder.Ref},
			Why: "the bucket has objects of " + folder.Cluster + ", which is not in the database; ocpctl-server recover -dry-run shows what they tell of it",
		}
		if earlier, known := since[folder.Cluster]; known {
			f.Since = earlier
		}
		found = append(found, f) // SaveFindings joins those of one cluster
	}
	fresh, err := w.c.Store.Reports.SaveFindings(ctx, []lifecycle.FindingKind{lifecycle.ArchiveUnknown}, found)
	if err != nil {
		return err
	}
	for _, f := range fresh {
		w.c.Log.WarnContext(ctx, "found", "kind", f.Kind, "identity", f.Identity, "since", f.Since, "why", f.Why, "evidence", f.Evidence)
	}
	return nil
}

// unknownFolders returns the folders of at most MostWorkFindings clusters that have no row. A cluster's row is older than its first
// object, and the rows are read after the folders, so a cluster that is accepted meanwhile is not among them.
func (c *Controller) unknownFolders(ctx context.Context) (unknown []artifacts.Folder, err error) {
	clusters := map[string]bool{}
	err = c.Archives.EachCluster(ctx, func(page []artifacts.Folder) error {
		ids := make([]string, len(page))
		for i, folder := range page {
			ids[i] = folder.Cluster
		}
		without, err := c.Store.Reports.UnknownClusters(ctx, ids)
		if err != nil {
			return err
		}
		for _, folder := range page {
			if !slices.Contains(without, folder.Cluster) || !clusters[folder.Cluster] && len(clusters) == queue.MostWorkFindings {
				continue
			}
			clusters[folder.Cluster] = true
			unknown = append(unknown, folder)
		}
		return nil
	})
	return unknown, err
}
