package artifacts_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/s3/s3test"
	"github.com/ocpctl/ocpctl/internal/artifacts"
)

// versionsIn lists every version and delete marker of a bucket, by key.
func versionsIn(t *testing.T, client *s3.Client, bucket string) map[string]int {
	t.Helper()
	found := map[string]int{}
	pages := s3.NewListObjectVersionsPaginator(client, &s3.ListObjectVersionsInput{Bucket: &bucket})
	for pages.HasMorePages() {
		page, err := pages.NextPage(t.Context())
		require.NoError(t, err)
		for _, v := range page.Versions {
			found[*v.Key]++
		}
		for _, m := range page.DeleteMarkers {
			found[*m.Key]++
		}
	}
	return found
}

func fill(t *testing.T, client *s3.Client, bucket string, keys ...string) {
	t.Helper()
	for _, key := range keys {
		for range 2 { // two versions, where the bucket keeps them
			_, err := client.PutObject(t.Context(), &s3.PutObjectInput{Bucket: &bucket, Key: &key, Body: strings.NewReader("x")})
			require.NoError(t, err)
		}
	}
}

const access, state = "operate/clusters/clu_1/20261120T120000.000Z-a1/", "clusters/clu_1/create/20261120T120000.000Z-a1/"

func TestWhatOpensAClusterIsDeletedInEveryVersionAndNothingElse(t *testing.T) {
	for _, versioned := range []bool{true, false} {
		t.Run(fmt.Sprintf("versioned=%t", versioned), func(t *testing.T) {
			s, client, bucket := newStore(t)
			if versioned {
				require.NoError(t, s3test.Shared(t).KeepVersions(t.Context(), bucket))
			}
			fill(t, client, bucket, access+"kubeconfig", access+"kubeadmin-password", access+"auth-bundle.tar.zst", state+"install-dir.tar.zst", access+"log-bundle-20261120.tar.gz",
				"operate/clusters/clu_10/20261120T120000.000Z-a1/kubeconfig", "operate/clusters/clu_2/20261120T120000.000Z-a1/kubeconfig", "spool/att_1/000001-report.json")
			_, err := client.DeleteObject(t.Context(), &s3.DeleteObjectInput{Bucket: &bucket, Key: aws.String(access + "kubeconfig")})
			require.NoError(t, err)
			before := versionsIn(t, client, bucket)
			want := before[access+"kubeconfig"] + before[access+"kubeadmin-password"] + before[access+"auth-bundle.tar.zst"]
			if versioned {
				require.Equal(t, 7, want, "two versions each and one delete marker")
			}

			n, err := s.RemoveAccess(t.Context(), "clu_1")
			require.NoError(t, err)
			require.Equal(t, want, n)
			after := versionsIn(t, client, bucket)
			for key, versions := range before {
				if strings.HasPrefix(key, access) && !strings.HasSuffix(key, ".tar.gz") {
					versions = 0
				}
				require.Equal(t, versions, after[key], key)
			}
			n, err = s.RemoveAccess(t.Context(), "clu_1")
			require.NoError(t, err)
			require.Zero(t, n, "repeating it is harmless")
		})
	}
}

func TestTheStateOfAClusterIsDeletedWithItsSpool(t *testing.T) {
	s, client, bucket := newStore(t)
	require.NoError(t, s3test.Shared(t).KeepVersions(t.Context(), bucket))
	others := []string{"clusters/clu_2/create/20261120T120000.000Z-a1/install-dir.tar.zst", "spool/att_3/000001-report.json"}
	fill(t, client, bucket, append(others, access+"kubeconfig", state+"install-dir.tar.zst", state+"manifest.json",
		"clusters/clu_1/destroy/20261120T130000.000Z-a2/destroy.log", access+"log-bundle-20261120.tar.gz", "spool/att_1/000001-report.json", "spool/att_2/000001-result.json")...)
	n, err := s.RemoveState(t.Context(), "clu_1", []string{"att_1", "att_2"})
	require.NoError(t, err)
	require.Equal(t, 14, n)
	require.Equal(t, map[string]int{others[0]: 2, others[1]: 2}, versionsIn(t, client, bucket))
}

func TestMoreThanOnePageIsDeleted(t *testing.T) {
	s, client, bucket := newStore(t)
	var keys []string
	for i := range 600 { // two versions each: more than the 1,000 of a page
		keys = append(keys, fmt.Sprintf("%s%04d", state, i))
	}
	require.NoError(t, s3test.Shared(t).KeepVersions(t.Context(), bucket))
	fill(t, client, bucket, keys...)
	n, err := s.RemoveState(t.Context(), "clu_1", nil)
	require.NoError(t, err)
	require.Equal(t, 1200, n)
	require.Empty(t, versionsIn(t, client, bucket))
}

func TestNoPrefixIsMadeOfWhatIsNoID(t *testing.T) {
	s, client, bucket := newStore(t)
	fill(t, client, bucket, access+"kubeconfig", state+"install-dir.tar.zst")
	for _, id := range []string{"", ".", "..", "/", "clu_1/../clu_2", "*", "clu 1"} {
		n, err := s.RemoveState(t.Context(), id, []string{id})
		require.ErrorIs(t, err, artifacts.ErrNotAnID, id)
		require.Zero(t, n)
	}
	require.Len(t, versionsIn(t, client, bucket), 2)
}
