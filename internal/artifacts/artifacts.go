// Package artifacts stores install directories, outputs and logs in S3.
//
// An archive is a zstd-compressed tar of allowed files, with a manifest beside it. It is written once under a unique name, read back
// and checked before anybody relies on it, and never overwritten. The package uses no database. It must never put a secret into a
// destroy bundle, and never unpack what does not match its manifest.
package artifacts

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/s3"
)

// What can be wrong with an object. Every other error means that S3 did not respond, which says nothing about the object.
var (
	ErrExists  = errors.New("the object already exists")
	ErrMissing = errors.New("the object does not exist")
	ErrCorrupt = errors.New("the object differs from what was written")
)

// Type is the purpose of a snapshot.
type Type string

// The types of snapshot, spelt as in the artifacts table.
const (
	Destroy Type = "INSTALL_DIR_SNAPSHOT" // what a teardown needs; no secrets
	Operate Type = "AUTH_BUNDLE"          // what operating the cluster needs; secrets, under a separate prefix and key
	Log     Type = "LOG"                  // the installer's log bundle; secrets, stored beside the operate bundles
)

// Snapshot is one immutable archive in the bucket.
type Snapshot struct {
	Type        Type
	Key         string
	ManifestKey string
	SHA256      string // of the archive, lowercase hex
	Size        int64
	InfraID     string
	TakenAt     time.Time
}

// Config says where artifacts are stored. Endpoints come only from the SDK's default chain.
type Config struct {
	Bucket        string
	KMSKey        string                  // for destroy bundles, logs and outputs; empty: the bucket's default
	OperateKMSKey string                  // for everything under operate/; empty: the bucket's default
	Timeout       time.Duration           // of one call with a small body, default one minute; large bodies get more
	Credentials   aws.CredentialsProvider // nil: the SDK's default chain
	TempDir       string                  // where archives are built; default os.TempDir
	Now           func() time.Time
}

// Store is one bucket. It is safe for concurrent use.
type Store struct {
	cfg    Config
	client *s3.Client
}

// New loads the SDK's default configuration. It makes no call.
func New(ctx context.Context, cfg Config) (*Store, error) {
	if cfg.Bucket == "" {
		return nil, errors.New("artifacts: a bucket is required")
	}
	if cfg.Timeout == 0 {
		cfg.Timeout = time.Minute
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	loaded, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		return nil, fmt.Errorf("load the AWS configuration for artifacts: %w", err)
	}
	client := s3.NewFromConfig(loaded, func(o *s3.Options) {
		if cfg.Credentials != nil {
			o.Credentials = cfg.Credentials
		}
		o.UsePathStyle = true // every S3 implementation supports it, and the bucket name need not resolve in DNS
		o.DisableLogOutputChecksumValidationSkipped = true
		o.ResponseChecksumValidation = aws.ResponseChecksumValidationWhenRequired // the package hashes what it reads itself
	})
	return &Store{cfg: cfg, client: client}, nil
}
