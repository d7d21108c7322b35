package resources

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/ocpctl/ocpctl/devstack/must"
)

// BootstrapBucket is the bucket with the bootstrap machine's ignition.
func (b *Build) BootstrapBucket() string { return "openshift-bootstrap-data-" + b.InfraID }

// CreateBucket creates the bootstrap bucket. It has no tags until TagBucket: two calls, as in the real provider.
func (b *Build) CreateBucket(ctx context.Context) error {
	return b.createBucket(ctx, b.BootstrapBucket())
}

// TagBucket tags the bootstrap bucket, so that destroy finds it.
func (b *Build) TagBucket(ctx context.Context) error { return b.tagBucket(ctx, b.BootstrapBucket()) }

// PutIgnition puts the bootstrap ignition, full of secrets, into the bucket.
func (b *Build) PutIgnition(ctx context.Context, ignition []byte) error {
	_, err := b.s3.PutObject(ctx, &s3.PutObjectInput{
		Bucket: aws.String(b.BootstrapBucket()), Key: aws.String("bootstrap.ign"), Body: bytes.NewReader(ignition),
	})
	if err != nil {
		return fmt.Errorf("failed to upload bootstrap ignition: %w", err)
	}
	return nil
}

// createBucket sends no location, because the stand-in S3 has one region.
func (b *Build) createBucket(ctx context.Context, name string) error {
	if _, err := b.s3.CreateBucket(ctx, &s3.CreateBucketInput{Bucket: &name}); err != nil {
		return fmt.Errorf("failed to create S3 bucket %q: %w", name, err)
	}
	return nil
}

func (b *Build) tagBucket(ctx context.Context, name string) error {
	_, err := b.s3.PutBucketTagging(ctx, &s3.PutBucketTaggingInput{Bucket: &name, Tagging: &types.Tagging{
		TagSet: sorted(b.tags(name), func(k, v *string) types.Tag { return types.Tag{Key: k, Value: v} }),
	}})
	if err != nil {
		return fmt.Errorf("failed to tag S3 bucket %q: %w", name, err)
	}
	return nil
}

// deleteBucket empties a bucket, including all versions, and deletes it. A missing one is no error.
func (c *Cloud) deleteBucket(ctx context.Context, name string) (err error) {
	defer must.Catch(&err)
	p := s3.NewListObjectVersionsPaginator(c.s3, &s3.ListObjectVersionsInput{Bucket: &name})
	for p.HasMorePages() {
		page, err := p.NextPage(ctx)
		if missing(err) {
			return nil
		}
		must.Wrap(err, "list bucket %s", name)
		for _, v := range page.Versions {
			must.Do(c.deleteObject(ctx, name, v.Key, v.VersionId))
		}
		for _, m := range page.DeleteMarkers {
			must.Do(c.deleteObject(ctx, name, m.Key, m.VersionId))
		}
	}
	if _, err := c.s3.DeleteBucket(ctx, &s3.DeleteBucketInput{Bucket: &name}); err != nil && !missing(err) {
		return fmt.Errorf("delete bucket %s: %w", name, err)
	}
	return nil
}

func (c *Cloud) deleteObject(ctx context.Context, bucket string, key, version *string) error {
	in := &s3.DeleteObjectInput{Bucket: &bucket, Key: key}
	if v := aws.ToString(version); v != "" && v != "null" {
		in.VersionId = version
	}
	if _, err := c.s3.DeleteObject(ctx, in); err != nil && !missing(err) {
		return fmt.Errorf("delete %s from bucket %s: %w", aws.ToString(key), bucket, err)
	}
	return nil
}

// missing reports that the cloud answered and the resource does not exist.
func missing(err error) bool {
	var response *smithyhttp.ResponseError
	return errors.As(err, &response) && response.HTTPStatusCode() == http.StatusNotFound || codeSays(err, "NotFound", "NoSuch")
}

// Object is a Kubernetes object that was applied to a cluster: its identity, by whom it was applied and how often. Its content is
// stored as a hash.
type Object struct {
	APIVersion, Kind, Namespace, Name string
	Manager                           string
	Hash                              string
	Applied                           int
	Edit                              string // value of the label ocpctl.io/edit of a namespace; empty: none
}

// objectTag is the prefix of the network's tags that store objects, one tag each: the stand-in has no cluster to store them in.
const objectTag = "ocpctl-standin/object/"

// Objects returns all applied objects, by kind, namespace and name.
func (l *Living) Objects() (all []Object) {
	for key, value := range l.Notes[l.Network] {
		if !strings.HasPrefix(key, objectTag) {
			continue
		}
		var o Object
		var where string
		if n, _ := fmt.Sscan(value, &o.APIVersion, &o.Kind, &where, &o.Manager, &o.Hash, &o.Applied, &o.Edit); n >= 6 {
			o.Namespace, o.Name, _ = strings.Cut(where, "/")
			all = append(all, o)
		}
	}
	slices.SortFunc(all, func(a, b Object) int {
		return strings.Compare(a.Kind+"/"+a.Namespace+"/"+a.Name, b.Kind+"/"+b.Namespace+"/"+b.Name)
	})
	return all
}

// Object looks one up by kind, namespace and name.
func (l *Living) Object(kind, namespace, name string) (Object, bool) {
	for _, o := range l.Objects() {
		if o.Kind == kind && o.Namespace == namespace && o.Name == name {
			return o, true
		}
	}
	return Object{}, false
}

// Apply stores an object, or counts that it was applied again.
func (l *Living) Apply(ctx context.Context, o Object, content []byte) error {
	sum := sha256.Sum256(content)
	before, _ := l.Object(o.Kind, o.Namespace, o.Name)
	value := fmt.Sprintf("%s %s %s/%s %s %s %d", o.APIVersion, o.Kind, o.Namespace, o.Name, o.Manager, hex.EncodeToString(sum[:6]), before.Applied+1)
	if o.Edit != "" {
		value += " " + o.Edit
	}
	return l.remember(ctx, l.Network, objectTag+o.key(), value)
}

// Again reads the cluster's current state.
func (l *Living) Again(ctx context.Context) (*Living, error) { return l.On.Again(ctx) }

func (o Object) key() string { return short(o.Kind + "/" + o.Namespace + "/" + o.Name) }

// ApplyWhole stores an object with its content.
func (l *Living) ApplyWhole(ctx context.Context, o Object, content []byte) error {
	if err := l.Apply(ctx, o, content); err != nil {
		return err
	}
	return l.Keep(ctx, o.key(), string(content))
}

// Content returns what an object was stored with; empty: nothing was kept.
func (l *Living) Content(o Object) []byte { return []byte(l.Kept(o.key())) }

// Drop removes an object.
func (l *Living) Drop(ctx context.Context, o Object) error {
	if err := l.Keep(ctx, o.key(), ""); err != nil {
		return err
	}
	return l.remember(ctx, l.Network, objectTag+o.key(), "")
}
