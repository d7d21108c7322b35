package artifacts

import (
	"fmt"
	"path"
	"regexp"
	"strings"
	"time"
)

const (
	operatePrefix = "operate/"
	stampLayout   = "20060102T150405.000Z"
)

var plainID = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$`)

// plainFile is a file name that stays in its folder.
var plainFile = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,254}$`)

// stamp names a moment and an attempt, the last folder of every key that is written once.
func stamp(at time.Time, attempt int) string {
	return fmt.Sprintf("%s-a%d", at.UTC().Format(stampLayout), attempt)
}

// archiveKeys returns where a bundle's archive and its manifest go.
func archiveKeys(b Bundle, at time.Time) (archive, manifest string) {
	folder := "clusters/" + b.Cluster + "/create/" + stamp(at, b.Attempt)
	name := "/install-dir.tar.zst"
	if b.Type == Operate {
		folder = operatePrefix + "clusters/" + b.Cluster + "/" + stamp(at, b.Attempt)
		name = "/auth-bundle.tar.zst"
	}
	return folder + name, folder + "/manifest.json"
}

// CheckKeys returns nil if the snapshot lies where this attempt of this cluster keeps a snapshot of its type, and nowhere
// else. Its error says which key does not.
func (s Snapshot) CheckKeys(cluster string, attempt int) error {
	folder, file := path.Split(s.Key)
	stamped, ofAttempt := strings.CutSuffix(path.Base(folder), fmt.Sprintf("-a%d", attempt))
	at, err := time.Parse(stampLayout, stamped)
	if err != nil || !ofAttempt || !plainID.MatchString(cluster) {
		return fmt.Errorf("key %.200q is not of attempt %d of %s", s.Key, attempt, cluster)
	}
	var archive, manifest string
	switch {
	case s.Type == Destroy, s.Type == Operate:
		archive, manifest = archiveKeys(Bundle{Type: s.Type, Cluster: cluster, Attempt: attempt}, at)
	case s.Type == Log && plainFile.MatchString(file):
		archive = LogBundleKey(cluster, attempt, at, file)
	default:
		return fmt.Errorf("type %.40q has no key %.200q", s.Type, s.Key)
	}
	switch {
	case s.Key != archive:
		return fmt.Errorf("key %.200q is not of attempt %d of %s, where it would be %q", s.Key, attempt, cluster, archive)
	case s.ManifestKey != manifest:
		return fmt.Errorf("manifest key %.200q does not belong to %q", s.ManifestKey, archive)
	}
	return nil
}

// The credentials of a cluster that CredentialKey and CredentialRef name.
const (
	Kubeconfig = "kubeconfig"
	Kubeadmin  = "kubeadmin-password"
)

// CredentialRef is the reference to what CredentialKey names.
func CredentialRef(bucket, cluster string, attempt int, at time.Time, name string) string {
	return refTo(bucket, CredentialKey(cluster, attempt, at, name))
}

// MetadataRef is the reference to what MetadataKey names.
func MetadataRef(bucket, cluster string, attempt int, at time.Time) string {
	return refTo(bucket, MetadataKey(cluster, attempt, at))
}

// IsCredentialRef reports whether a reference names a credential of this cluster: whatever it was stored as, another
// cluster's is never handed out under this one's name.
func IsCredentialRef(ref, cluster, name string) bool {
	_, key, ok := strings.Cut(strings.TrimPrefix(ref, "s3://"), "/")
	folder, file := path.Split(key)
	return ok && plainID.MatchString(cluster) && file == name && path.Clean(key) == key &&
		path.Dir(path.Clean(folder)) == operatePrefix+"clusters/"+cluster
}

// CredentialKey is where one credential of a cluster goes: name is Kubeconfig or Kubeadmin.
func CredentialKey(cluster string, attempt int, at time.Time, name string) string {
	return operatePrefix + "clusters/" + cluster + "/" + stamp(at, attempt) + "/" + name
}

// LogKey is where the redacted log of an attempt goes; kind is "create" or "destroy".
func LogKey(cluster, kind string, attempt int, at time.Time) string {
	return "clusters/" + cluster + "/" + kind + "/" + stamp(at, attempt) + "/" + kind + ".log"
}

// LogBundleKey is where one of the installer's own bundles of logs goes, under its file name. It is full of secrets: what
// the machines were started with, and what the controllers kept.
func LogBundleKey(cluster string, attempt int, at time.Time, file string) string {
	return CredentialKey(cluster, attempt, at, file)
}

// MetadataKey is where the metadata.json of a successful create goes.
func MetadataKey(cluster string, attempt int, at time.Time) string {
	return "clusters/" + cluster + "/outputs/" + stamp(at, attempt) + "/metadata.json"
}

// SpoolKey is where a document for the Status API waits while the API is away; kind is "report" or "result".
func SpoolKey(attempt string, seq int, kind string) string {
	return fmt.Sprintf("spool/%s/%06d-%s.json", attempt, seq, kind)
}

// ref is how an object is named outside this package.
func (s *Store) ref(key string) string { return refTo(s.cfg.Bucket, key) }

func refTo(bucket, key string) string { return "s3://" + bucket + "/" + key }

// keyOf reads a reference to an object of this bucket.
func (s *Store) keyOf(ref string) (string, error) {
	rest, ok := strings.CutPrefix(ref, "s3://")
	bucket, key, found := strings.Cut(rest, "/")
	if !ok || !found || key == "" {
		return "", fmt.Errorf("artifact reference %q: want s3://bucket/key", ref)
	}
	if bucket != s.cfg.Bucket {
		return "", fmt.Errorf("artifact reference %q: not in our bucket %q", ref, s.cfg.Bucket)
	}
	return key, nil
}

// kmsKey returns the key an object is encrypted with; empty: the bucket's default.
func (s *Store) kmsKey(key string) string {
	if strings.HasPrefix(key, operatePrefix) {
		return s.cfg.OperateKMSKey
	}
	return s.cfg.KMSKey
}
