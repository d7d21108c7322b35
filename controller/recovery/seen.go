package recovery

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/internal/artifacts"
	"github.com/ocpctl/ocpctl/internal/cloudtags"
	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/internal/names"
	"github.com/ocpctl/ocpctl/internal/tagkey"
)

// cluster is everything that was seen of one cluster outside the database.
type cluster struct {
	id       string
	attempts map[int]*attempt // by number
	unread   bool             // the bucket did not answer, so nothing is written now: a closed attempt cannot be completed later

	tags     map[string]string // of its resources in the cloud
	platform string            // whose cloud has them
	region   string
	arns     []string
	infraIDs []string            // by the tags of its resources
	names    []string            // of its resources
	marks    []map[string]string // all tags of each resource, which may tell ccoctl's name
}

// attempt is everything that was seen of one attempt in the bucket.
type attempt struct {
	number    int
	kind      string
	at        time.Time // of its first object
	own       string    // reference of its record
	manifests []artifacts.Trace
	outputs   *artifacts.Trace
	access    *artifacts.Trace // kubeconfig
	server    string           // of its API, if no name tells it

	record    *contract.AttemptRecord
	snapshots []artifacts.Snapshot
}

// addTrace adds one object. The kind of an attempt is that of the folder of its own record or log.
func (c *cluster) addTrace(t artifacts.Trace) {
	a := c.attempts[t.Attempt]
	if a == nil {
		a = &attempt{number: t.Attempt, kind: t.Kind, at: t.At}
		c.attempts[t.Attempt] = a
	}
	if t.At.Before(a.at) {
		a.at = t.At
	}
	switch t.Content {
	case artifacts.AttemptContent:
		a.own, a.kind = t.Ref, t.Kind
	case artifacts.ManifestContent:
		a.manifests = append(a.manifests, t)
	case artifacts.OutputsContent:
		a.outputs = newerTrace(a.outputs, t)
	case artifacts.KubeconfigContent:
		a.access = newerTrace(a.access, t)
	case artifacts.OtherContent:
	}
}

func newerTrace(have *artifacts.Trace, t artifacts.Trace) *artifacts.Trace {
	if have != nil && !have.At.Before(t.At) {
		return have
	}
	return &t
}

func (c *cluster) addResource(platform, region string, resource cloudtags.Resource) {
	c.platform = platform
	if c.tags == nil || c.tags[tagkey.ClusterName] == "" {
		c.tags = resource.Tags
	}
	c.arns, c.marks = append(c.arns, resource.ARN), append(c.marks, resource.Tags)
	if parts := strings.SplitN(resource.ARN, ":", 6); len(parts) == 6 && parts[0] == "arn" {
		region = parts[3] // empty: of a global service
	}
	c.region = cmp.Or(c.region, region)
	for key := range resource.Tags {
		if infraID, ok := strings.CutPrefix(key, tagkey.KubernetesCluster); ok && !slices.Contains(c.infraIDs, infraID) {
			c.infraIDs = append(c.infraIDs, infraID)
		}
	}
	slices.Sort(c.infraIDs)
}

func (c *cluster) attemptNumbers() []int { return slices.Sorted(maps.Keys(c.attempts)) }

// newestRecord returns the newest record of any attempt; nil: none could be read.
func (c *cluster) newestRecord() *contract.AttemptRecord {
	for _, number := range slices.Backward(c.attemptNumbers()) {
		if record := c.attempts[number].record; record != nil {
			return record
		}
	}
	return nil
}

// hasTeardownAfter reports that a teardown with a higher number began.
func (c *cluster) hasTeardownAfter(number int) bool {
	for n, a := range c.attempts {
		if n > number && a.kind == contract.KindDestroy {
			return true
		}
	}
	return false
}

// whereSeen says where something was seen.
func (c *cluster) whereSeen() (where []string) {
	if len(c.attempts) > 0 {
		where = append(where, fmt.Sprintf("bucket (attempts %s)", joinNumbers(c.attemptNumbers())))
	}
	if len(c.arns) > 0 {
		where = append(where, fmt.Sprintf("cloud (%d resources)", len(c.arns)))
	}
	return where
}

// listPlaces lists the attempts for a finding.
func (c *cluster) listPlaces() (out []string) {
	for _, n := range c.attemptNumbers() {
		out = append(out, fmt.Sprintf("clusters/%s, attempt %d (%s)", c.id, n, c.attempts[n].kind))
	}
	return out
}

func joinNumbers(numbers []int) string {
	texts := make([]string, len(numbers))
	for i, n := range numbers {
		texts[i] = fmt.Sprint(n)
	}
	return strings.Join(texts, ", ")
}

// readAttempt reads the record and the manifests of an attempt. A record must be of this attempt: a runner can write only below its own
// attempt's folders, so that nothing else was written there.
func (r *run) readAttempt(ctx context.Context, c *cluster, a *attempt) error {
	var failed []error
	fail := func(err error) {
		failed = append(failed, err)
		c.unread = c.unread || !errors.Is(err, artifacts.ErrCorrupt) && !errors.Is(err, artifacts.ErrMissing)
	}
	for _, t := range a.manifests {
		snapshot, err := r.Bucket.SnapshotAt(ctx, t)
		if err != nil {
			fail(err)
			continue
		}
		a.snapshots = append(a.snapshots, snapshot)
	}
	var record contract.AttemptRecord
	err := r.readRecord(ctx, a, &record)
	switch {
	case err != nil:
		fail(err)
	case record.Attempt == "": // there is none
	case record.Cluster != c.id || record.Number != a.number:
		fail(fmt.Errorf("%w: its record is of attempt %d of %.80q", artifacts.ErrCorrupt, record.Number, record.Cluster))
	default:
		a.record = &record
		if a.outputs != nil && record.Platform == names.Kubernetes && (record.Accepted == nil || record.Accepted.Server == "") {
			if a.server, err = r.readServer(ctx, a.outputs.Ref); err != nil {
				fail(err)
			}
		}
		if i := record.Identity; i != nil && record.Region == "" {
			record.Region, record.Account = i.Region, i.Account
		}
	}
	return errors.Join(failed...)
}

// readServer reads the address of a hosted cluster's API, which no name tells, from what its create stored. Its kubeconfig has it, too, but only
// the API's role may read that.
func (r *run) readServer(ctx context.Context, ref string) (string, error) {
	raw, err := r.Bucket.Read(ctx, ref)
	if err != nil {
		return "", err
	}
	server, err := artifacts.APIURLIn(raw)
	if err != nil || server == "" {
		return "", err
	}
	if err := (names.Scope{Platform: names.Kubernetes}).CheckAPIURL(server); err != nil {
		return "", fmt.Errorf("%w: %s: %w", artifacts.ErrCorrupt, ref, err)
	}
	return server, nil
}

// readRecord reads the record with the identity from a destroy bundle; without one, the record that the attempt stored first.
func (r *run) readRecord(ctx context.Context, a *attempt, into *contract.AttemptRecord) error {
	var failed error
	if len(a.snapshots) > 0 {
		failed = r.Bucket.RecordIn(ctx, a.snapshots, into)
		if failed == nil || !errors.Is(failed, artifacts.ErrCorrupt) && !errors.Is(failed, artifacts.ErrMissing) {
			return failed
		}
	}
	if a.own == "" {
		return failed
	}
	raw, err := r.Bucket.Read(ctx, a.own)
	if err != nil {
		return errors.Join(failed, err)
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return errors.Join(failed, fmt.Errorf("%w: %s: %w", artifacts.ErrCorrupt, a.own, err))
	}
	return nil
}
