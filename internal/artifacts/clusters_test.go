package artifacts_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/internal/artifacts"
)

func TestTheFoldersOfClustersAreListedAndNothingIsRead(t *testing.T) {
	s, client, bucket := newStore(t)
	fill(t, client, bucket, state+"install-dir.tar.zst", state+"manifest.json", access+"kubeconfig", "clusters/clu_2/create/20261120T120000.000Z-a1/attempt.json",
		"clusters/a note.txt", "clusters/not an id/file", "spool/att_1/000001-report.json", "exports/bill.csv")
	var found []artifacts.Folder
	collect := func(page []artifacts.Folder) error {
		found = append(found, page...)
		return nil
	}
	require.NoError(t, s.EachCluster(t.Context(), collect))
	require.Equal(t, []artifacts.Folder{
		{Cluster: "clu_1", Ref: "s3://" + bucket + "/clusters/clu_1/"},
		{Cluster: "clu_2", Ref: "s3://" + bucket + "/clusters/clu_2/"},
		{Cluster: "clu_1", Ref: "s3://" + bucket + "/operate/clusters/clu_1/"},
	}, found)

	require.Len(t, versionsIn(t, client, bucket), 8)

	refused := errors.New("the database is away")
	calls := 0
	require.ErrorIs(t, s.EachCluster(t.Context(), func([]artifacts.Folder) error { calls++; return refused }), refused)
	require.Equal(t, 1, calls)
}

func TestMoreThanOnePageOfClustersIsListed(t *testing.T) {
	s, client, bucket := newStore(t)
	for i := range 1010 { // more than the 1,000 of a page
		_, err := client.PutObject(t.Context(), &s3.PutObjectInput{Bucket: &bucket, Key: aws.String(fmt.Sprintf("clusters/clu_%04d/x", i))})
		require.NoError(t, err)
	}
	var pages []int
	require.NoError(t, s.EachCluster(t.Context(), func(page []artifacts.Folder) error { pages = append(pages, len(page)); return nil }))
	require.Equal(t, []int{1000, 10}, pages)
}
