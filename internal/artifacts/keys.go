package artifacts

import (
	"encoding/json"
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

// plainFile matches a file name that stays in its folder.
var plainFile = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,254}$`)

// keyStamp combines a time and an attempt into the last folder of every key that is written once.
func keyStamp(at time.Time, attempt int) string {
	return fmt.Sprintf("%s-a%d", at.UTC().Format(stampLayout), attempt)
}

// archiveKeys returns the keys of a bundle's archive and manifest.
func archiveKeys(b Bundle, at time.Time) (archive, manifest string) {
	folder := "clusters/" + b.Cluster + "/create/" + keyStamp(at, b.Attempt)
	name := "/install-dir.tar.zst"
	if b.Type == Operate {
		folder = operatePrefix + "clusters/" + b.Cluster + "/" + keyStamp(at, b.Attempt)
		name = "/auth-bundle.tar.zst"
	}
	return folder + name, folder + "/manifest.json"
}

// CheckKeys returns nil if the snapshot's keys are where this attempt of this cluster stores snapshots of its type. Its error names
// the key that is not.
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

// The names of credentials for CredentialKey and CredentialRef.
const (
	Kubeconfig = "kubeconfig"
	Kubeadmin  = "kubeadmin-password"
)

// AccessFile is the name of the kubeconfig of one reader's access, for CredentialKey and CredentialRef.
func AccessFile(access string) string { return "access-" + access + ".kubeconfig" }

// ConsoleFile is the name of the password of one reader's account of the console, for CredentialKey and CredentialRef.
func ConsoleFile(access string) string { return "console-" + access + ".password" }

// CredentialRef returns the reference to the object with CredentialKey.
func CredentialRef(bucket, cluster string, attempt int, at time.Time, name string) string {
	return refTo(bucket, CredentialKey(cluster, attempt, at, name))
}

// MetadataRef returns the reference to the object with MetadataKey.
func MetadataRef(bucket, cluster string, attempt int, at time.Time) string {
	return refTo(bucket, MetadataKey(cluster, attempt, at))
}

// IsCredentialRef reports whether a reference is a credential of this cluster, so that another cluster's is never handed out under
// this one's name, whatever was stored.
func IsCredentialRef(ref, cluster, name string) bool {
	_, key, ok := strings.Cut(strings.TrimPrefix(ref, "s3://"), "/")
	folder, file := path.Split(key)
	return ok && plainID.MatchString(cluster) && file == name && path.Clean(key) == key &&
		path.Dir(path.Clean(folder)) == operatePrefix+"clusters/"+cluster
}

// CredentialKey is the key of one credential of a cluster; name is Kubeconfig, Kubeadmin, an AccessFile or a ConsoleFile.
func CredentialKey(cluster string, attempt int, at time.Time, name string) string {
	return operatePrefix + "clusters/" + cluster + "/" + keyStamp(at, attempt) + "/" + name
}

// LogKey is the key of an attempt's redacted log; kind is "create" or "destroy".
func LogKey(cluster, kind string, attempt int, at time.Time) string {
	return "clusters/" + cluster + "/" + kind + "/" + keyStamp(at, attempt) + "/" + kind + ".log"
}

// attemptFile is the name of an attempt's record.
const attemptFile = "attempt.json"

// AttemptKey is the key of an attempt's record, the first object that an attempt stores; kind is the attempt's.
func AttemptKey(cluster, kind string, attempt int, at time.Time) string {
	return "clusters/" + cluster + "/" + kind + "/" + keyStamp(at, attempt) + "/" + attemptFile
}

// LogBundleKey is the key of one of the installer's log bundles, with its file name. It is full of secrets: the machines' start-up
// data and the controllers' files.
func LogBundleKey(cluster string, attempt int, at time.Time, file string) string {
	return CredentialKey(cluster, attempt, at, file)
}

// MetadataKey is the key of a successful create's metadata.json.
func MetadataKey(cluster string, attempt int, at time.Time) string {
	return "clusters/" + cluster + "/outputs/" + keyStamp(at, attempt) + "/metadata.json"
}

// apiURLField is the field of a stored metadata.json with the address of a hosted cluster's API. The installer's own has no such field.
const apiURLField = "apiURL"

// WithAPIURL returns a metadata.json with the address of the cluster's API.
func WithAPIURL(metadata []byte, url string) ([]byte, error) {
	all := map[string]any{}
	if err := json.Unmarshal(metadata, &all); err != nil {
		return nil, fmt.Errorf("add the API's address to the metadata: %w", err)
	}
	all[apiURLField] = url
	return json.Marshal(all)
}

// APIURLIn returns the address that WithAPIURL added; empty: none was.
func APIURLIn(metadata []byte) (string, error) {
	all := map[string]any{}
	if err := json.Unmarshal(metadata, &all); err != nil {
		return "", fmt.Errorf("%w: the metadata is no JSON object: %w", ErrCorrupt, err)
	}
	url, _ := all[apiURLField].(string)
	return url, nil
}

// SpoolKey is the key of a document for the Status API that could not be delivered; kind is "report" or "result".
func SpoolKey(attempt string, seq int, kind string) string {
	return fmt.Sprintf("spool/%s/%06d-%s.json", attempt, seq, kind)
}

// refOf returns an object's reference for use outside this package.
func (s *Store) refOf(key string) string { return refTo(s.cfg.Bucket, key) }

func refTo(bucket, key string) string { return "s3://" + bucket + "/" + key }

// keyOf parses a reference to an object of this bucket.
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

// kmsKey returns the key with which an object is encrypted; empty: the bucket's default.
func (s *Store) kmsKey(key string) string {
	if strings.HasPrefix(key, operatePrefix) {
		return s.cfg.OperateKMSKey
	}
	return s.cfg.KMSKey
}
