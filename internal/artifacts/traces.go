package artifacts

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
)

// Trace is one object of an attempt, as far as its key tells.
type Trace struct {
	Cluster string
	Attempt int
	At      time.Time
	Kind    string // create, destroy, scale, configure or access; of outputs and of everything that gives access: create
	Content Content
	Ref     string
}

// Content says what an object contains.
type Content string

// The contents that a recovery reads.
const (
	AttemptContent    Content = "attempt"    // the attempt's record
	ManifestContent   Content = "manifest"   // of a destroy bundle
	OutputsContent    Content = "outputs"    // metadata.json of a successful create
	KubeconfigContent Content = "kubeconfig" // of a successful create
	OtherContent      Content = ""
)

// Traces lists what attempts stored, in every folder of clusters, in the order of the keys. Objects stored before since are left out;
// the zero time leaves out none.
func (s *Store) Traces(ctx context.Context, since time.Time) ([]Trace, error) {
	return s.tracesBelow(ctx, "clusters/", since)
}

// TracesOf lists what the attempts of one cluster stored.
func (s *Store) TracesOf(ctx context.Context, cluster string) ([]Trace, error) {
	if cluster == "" || strings.Contains(cluster, "/") {
		return nil, fmt.Errorf("%q is not the id of a cluster", cluster)
	}
	return s.tracesBelow(ctx, "clusters/"+cluster+"/", time.Time{})
}

// tracesBelow lists what attempts stored below a folder.
func (s *Store) tracesBelow(ctx context.Context, folder string, since time.Time) ([]Trace, error) {
	var found []Trace
	for _, prefix := range []string{folder, operatePrefix + folder} {
		listed := s3.NewListObjectsV2Paginator(s.client, &s3.ListObjectsV2Input{Bucket: &s.cfg.Bucket, Prefix: aws.String(prefix)})
		for listed.HasMorePages() {
			page, err := s.listPage(ctx, listed)
			if err != nil {
				return nil, fmt.Errorf("list %s: %w", s.refOf(prefix), err)
			}
			for _, object := range page.Contents {
				trace, ok := traceOf(strings.TrimPrefix(aws.ToString(object.Key), operatePrefix), prefix != folder)
				if ok && !trace.At.Before(since) {
					trace.Ref = s.refOf(aws.ToString(object.Key))
					found = append(found, trace)
				}
			}
		}
	}
	return found, nil
}

func (s *Store) listPage(ctx context.Context, pages *s3.ListObjectsV2Paginator) (*s3.ListObjectsV2Output, error) {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.Timeout)
	defer cancel()
	page, err := pages.NextPage(ctx)
	return page, classifyError(err)
}

// traceOf parses clusters/<id>/<kind>/<stamp>/<file>, or clusters/<id>/<stamp>/<file> of what gives access.
func traceOf(key string, access bool) (Trace, bool) {
	parts := strings.Split(key, "/")
	kind := "create"
	if !access && len(parts) == 5 {
		kind = parts[2]
		parts = append(parts[:2:2], parts[3:]...)
	}
	if len(parts) != 4 || !plainID.MatchString(parts[1]) {
		return Trace{}, false
	}
	stamped, number, found := strings.Cut(parts[2], "-a")
	at, err := time.Parse(stampLayout, stamped)
	attempt, numeric := strconv.Atoi(number)
	if !found || err != nil || numeric != nil || attempt < 1 {
		return Trace{}, false
	}
	out := Trace{Cluster: parts[1], Attempt: attempt, At: at, Kind: kind}
	switch file := parts[3]; {
	case access && file == Kubeconfig:
		out.Content = KubeconfigContent
	case access:
	case file == attemptFile:
		out.Content = AttemptContent
	case kind == "create" && file == "manifest.json":
		out.Content = ManifestContent
	case kind == "outputs" && file == "metadata.json":
		out.Content = OutputsContent
	}
	if kind == "outputs" {
		out.Kind = "create"
	}
	return out, true
}

// SnapshotAt returns the snapshot that a manifest describes. It must belong to the cluster and the attempt of the trace.
func (s *Store) SnapshotAt(ctx context.Context, t Trace) (Snapshot, error) {
	key, err := s.keyOf(t.Ref)
	if err != nil {
		return Snapshot{}, err
	}
	raw, err := s.readAll(ctx, key, mostManifest)
	if err != nil {
		return Snapshot{}, err
	}
	m, _, err := parseManifest(raw)
	if err != nil {
		return Snapshot{}, fmt.Errorf("read %s: %w", t.Ref, err)
	}
	snapshot := Snapshot{Type: m.Type, Key: m.Archive, ManifestKey: key, SHA256: m.SHA256, Size: m.Size, InfraID: m.InfraID, TakenAt: m.TakenAt}
	if err := snapshot.CheckKeys(t.Cluster, t.Attempt); err != nil {
		return Snapshot{}, fmt.Errorf("%w: %s: %w", ErrCorrupt, t.Ref, err)
	}
	return snapshot, nil
}

// RecordIn reads the attempt's record from the newest good one of an attempt's destroy bundles into a value. ErrCorrupt, ErrMissing: no
// bundle has one, and asking again changes nothing.
func (s *Store) RecordIn(ctx context.Context, snapshots []Snapshot, into any) error {
	beside, err := os.MkdirTemp(s.cfg.TempDir, "ocpctl-record-")
	if err != nil {
		return fmt.Errorf("create a directory for an archive: %w", err)
	}
	defer os.RemoveAll(beside)
	dir := filepath.Join(beside, "archive")
	_, skipped, err := s.Restore(ctx, snapshots, dir)
	if err != nil {
		for _, one := range skipped {
			if one.Unanswered() {
				return one.Err
			}
			err = errors.Join(err, one.Err)
		}
		return err
	}
	raw, err := os.ReadFile(filepath.Join(dir, RecordDir, RecordFile))
	if err != nil {
		return fmt.Errorf("%w: the archive has no %s", ErrCorrupt, path.Join(RecordDir, RecordFile))
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return fmt.Errorf("%w: %s: %w", ErrCorrupt, path.Join(RecordDir, RecordFile), err)
	}
	return nil
}
