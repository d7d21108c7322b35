package artifacts

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
)

// ErrNotAnID says that a value that is not an id was to be used in a prefix of the bucket.
var ErrNotAnID = errors.New("not an id")

// deleteBatch is how many versions S3 deletes in one request.
const deleteBatch = 1000

// RemoveAccess deletes what gives access to a cluster, in every version: kubeconfig, kubeadmin's password and the operate bundles.
// The installer's log bundles stay with the rest of the state, for analysing failures. It returns how many versions and delete
// markers it deleted, also with an error.
func (s *Store) RemoveAccess(ctx context.Context, cluster string) (deleted int, err error) {
	return s.removeAll(ctx, operatePrefix+"clusters/", cluster, func(key string) bool { return !isLogBundle(key) })
}

// RemoveState deletes everything of a cluster in the bucket, in every version: archives, outputs, logs, its attempts' spools, and
// what gives access to it, if that still exists.
func (s *Store) RemoveState(ctx context.Context, cluster string, attempts []string) (deleted int, err error) {
	remove := func(below, id string) {
		n, failed := s.removeAll(ctx, below, id, func(string) bool { return true })
		deleted, err = deleted+n, errors.Join(err, failed)
	}
	remove(operatePrefix+"clusters/", cluster)
	remove("clusters/", cluster)
	for _, attempt := range attempts {
		remove("spool/", attempt)
	}
	return deleted, err
}

// isLogBundle recognises the installer's log bundles, which are gzip-compressed, among what ocpctl stores beside them.
func isLogBundle(key string) bool { return strings.HasSuffix(key, ".tar.gz") }

// removeAll deletes every version of the wanted objects in an id's folder below a prefix.
func (s *Store) removeAll(ctx context.Context, below, id string, wanted func(key string) bool) (deleted int, err error) {
	if !plainID.MatchString(id) {
		return 0, fmt.Errorf("delete below %s: %q: %w", below, id, ErrNotAnID)
	}
	prefix := below + id + "/" // with the slash, so that no other id matches
	found, err := s.listVersions(ctx, prefix)
	if err != nil {
		return 0, fmt.Errorf("list the versions below %s: %w", s.refOf(prefix), err)
	}
	found = slices.DeleteFunc(found, func(o types.ObjectIdentifier) bool { return !wanted(*o.Key) })
	for batch := range slices.Chunk(found, deleteBatch) {
		n, err := s.removeVersions(ctx, batch)
		deleted += n
		if err != nil {
			return deleted, fmt.Errorf("delete below %s: %w", s.refOf(prefix), err)
		}
	}
	return deleted, nil
}

// listVersions lists both versions and delete markers.
func (s *Store) listVersions(ctx context.Context, prefix string) (found []types.ObjectIdentifier, err error) {
	pages := s3.NewListObjectVersionsPaginator(s.client, &s3.ListObjectVersionsInput{Bucket: &s.cfg.Bucket, Prefix: &prefix})
	for pages.HasMorePages() {
		page, err := s.nextPage(ctx, pages)
		if err != nil {
			return nil, err
		}
		for _, v := range page.Versions {
			found = append(found, types.ObjectIdentifier{Key: v.Key, VersionId: v.VersionId})
		}
		for _, m := range page.DeleteMarkers {
			found = append(found, types.ObjectIdentifier{Key: m.Key, VersionId: m.VersionId})
		}
	}
	return found, nil
}

func (s *Store) nextPage(ctx context.Context, pages *s3.ListObjectVersionsPaginator) (*s3.ListObjectVersionsOutput, error) {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.Timeout)
	defer cancel()
	page, err := pages.NextPage(ctx)
	return page, classifyError(err)
}

// removeVersions deletes a batch and returns how many of it were deleted.
func (s *Store) removeVersions(ctx context.Context, batch []types.ObjectIdentifier) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.Timeout)
	defer cancel()
	out, err := s.client.DeleteObjects(ctx, &s3.DeleteObjectsInput{Bucket: &s.cfg.Bucket, Delete: &types.Delete{Objects: batch, Quiet: aws.Bool(true)}})
	if err != nil {
		return 0, classifyError(err)
	}
	if len(out.Errors) > 0 {
		first := out.Errors[0]
		return len(batch) - len(out.Errors), fmt.Errorf("%d of %d were refused, the first with %s: %s", len(out.Errors), len(batch),
			aws.ToString(first.Code), aws.ToString(first.Message))
	}
	return len(batch), nil
}
