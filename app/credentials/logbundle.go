package credentials

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/chatops/messages"
	"github.com/ocpctl/ocpctl/internal/artifacts"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store/attempts"
	"github.com/ocpctl/ocpctl/store/clusters"
)

// LogBundle is what one failed attempt left for debugging: the installer's own log and its log archives.
type LogBundle struct {
	Name    string // suggested file name
	Attempt int    // number
	parts   []attempts.LogBundle
	bucket  app.Artifacts
	cluster string
}

// LogBundle finds the log bundle of the attempt with this number, or the newest for 0. It holds secrets of the cluster, so it
// takes the same rights as the kubeconfig, and the read is in the audit trail before it happens.
func (s *Service) LogBundle(ctx context.Context, p policy.Principal, ref string, attempt int, origin app.Origin) (LogBundle, error) {
	row, origin, err := s.core.Authorize(ctx, p, ref, policy.ActLogBundle, origin)
	if err != nil {
		return LogBundle{}, err
	}
	all, err := s.store.Attempts.LogBundles(ctx, row.ID)
	if err != nil {
		return LogBundle{}, err
	}
	if attempt == 0 && len(all) > 0 {
		attempt = all[0].Attempt
	}
	parts := slices.DeleteFunc(slices.Clone(all), func(one attempts.LogBundle) bool { return one.Attempt != attempt })
	if len(parts) == 0 {
		return LogBundle{}, noLogBundle(row, all, attempt)
	}
	for _, one := range parts {
		// The reference came from a runner: another cluster's object must never be handed out under this one's name.
		if err := (artifacts.Snapshot{Type: artifacts.Log, Key: one.Key}).CheckKeys(row.ID, attempt); err != nil {
			return LogBundle{}, fmt.Errorf("read the log bundle of %s: %w", row.ID, err)
		}
	}
	if err := s.store.Audit(ctx, s.core.StoreOrigin(origin, p), "log_bundle.read", row.ID, map[string]string{"why": fmt.Sprintf("the log bundle of attempt %d was downloaded", attempt)}); err != nil {
		return LogBundle{}, fmt.Errorf("record the read: %w", err)
	}
	return LogBundle{
		Name: fmt.Sprintf("%s-attempt-%d-logs.tar.gz", row.Name, attempt), Attempt: attempt, parts: parts, bucket: s.artifacts, cluster: row.Name,
	}, nil
}

// BundledAttempts returns the numbers of a cluster's attempts that have a log bundle, the newest first.
func (s *Service) BundledAttempts(ctx context.Context, p policy.Principal, ref string) ([]int, error) {
	row, err := s.core.Cluster(ctx, p, ref)
	if err != nil {
		return nil, err
	}
	all, err := s.store.Attempts.LogBundles(ctx, row.ID)
	return attemptsOf(all), err
}

func attemptsOf(all []attempts.LogBundle) []int {
	numbers := make([]int, 0, len(all))
	for _, one := range all {
		numbers = append(numbers, one.Attempt)
	}
	return slices.Compact(numbers)
}

// noLogBundle returns the error that says why there is nothing to download, and what there is instead.
func noLogBundle(row clusters.Row, all []attempts.LogBundle, attempt int) error {
	return app.Fail(app.NotFound, sayNoLogBundle(row.Card, attempt, attemptsOf(all)))
}

// Send writes the bundle as one .tar.gz stream. Nothing is written to w before the first part was found. After an error the
// output is incomplete.
func (b LogBundle) Send(ctx context.Context, w io.Writer) error {
	// The parts are compressed already.
	compressed, err := gzip.NewWriterLevel(w, gzip.NoCompression)
	if err != nil {
		return err
	}
	archive := tar.NewWriter(compressed)
	for _, one := range b.parts {
		snapshot := artifacts.Snapshot{Type: artifacts.Log, Key: one.Key, SHA256: one.SHA256, Size: one.Size, TakenAt: one.TakenAt}
		err := b.bucket.Stream(ctx, snapshot, func(body io.Reader) error {
			header := tar.Header{
				Typeflag: tar.TypeReg, Name: fmt.Sprintf("%s-attempt-%d-logs/%s", b.cluster, b.Attempt, path.Base(one.Key)), Mode: 0o600, Size: one.Size, ModTime: one.TakenAt,
			}
			if err := archive.WriteHeader(&header); err != nil {
				return err
			}
			_, err := io.Copy(archive, body)
			return err
		})
		if errors.Is(err, artifacts.ErrMissing) {
			return app.Fail(app.NotFound, fmt.Sprintf("The log bundle of %s is no longer in the bucket. It is deleted with the cluster's logs, some time after the cluster is destroyed.", b.cluster))
		}
		if err != nil {
			return fmt.Errorf("read the log bundle of %s: %w", b.cluster, err)
		}
	}
	return errors.Join(archive.Close(), compressed.Close())
}

// sayNoLogBundle tells somebody why a cluster has no log bundle, and what there is instead. bundled are the numbers of the attempts that
// have one.
func sayNoLogBundle(c lifecycle.Card, attempt int, bundled []int) string {
	switch {
	case len(bundled) > 0:
		numbers := make([]string, 0, len(bundled))
		for _, number := range bundled {
			numbers = append(numbers, strconv.Itoa(number))
		}
		return fmt.Sprintf("Attempt %d of %s has no log bundle. These attempts have one: %s.", attempt, c.Name, strings.Join(numbers, ", "))
	case c.Phase == lifecycle.Released:
		return fmt.Sprintf("%s has no log bundle. A bundle is stored when an installation fails, and is deleted with the cluster's logs, "+
			"some time after the cluster is destroyed. %s", c.Name, messages.GoneSince(c))
	}
	return fmt.Sprintf("%s has no log bundle. A bundle is stored when an installation fails. To see the job's log: ocpctl logs %s.", c.Name, c.Name)
}
