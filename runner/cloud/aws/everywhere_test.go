package aws_test

import (
	"slices"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/stretchr/testify/require"

	standin "github.com/ocpctl/ocpctl/devstack/aws"
	"github.com/ocpctl/ocpctl/internal/contract"
)

// asked returns what a pass asked the tagging API in a region, and why it did not.
func asked(pass contract.Pass, region string) (queries []contract.Query) {
	for _, q := range pass.Queries {
		if q.Service == "tagging" && q.Region == region {
			queries = append(queries, q)
		}
	}
	return queries
}

func everywhereScene(t *testing.T) *scene {
	s := leaky(t)
	s.target.Installation, s.target.Everywhere = "test", true
	return s
}

func TestOnlyAPassForEveryRegionAsksThem(t *testing.T) {
	s := everywhereScene(t)
	wide := s.client.Verify(t.Context(), s.target)
	require.True(t, wide.Clean, wide.Leftovers)
	require.Len(t, asked(wide, zonesElsewhere), 2, "our tag and the installer's")
	for _, q := range asked(wide, zonesElsewhere) {
		require.Empty(t, q.Unasked)
	}
	s.target.Everywhere = false
	narrow := s.client.Verify(t.Context(), s.target)
	require.Empty(t, asked(narrow, zonesElsewhere))
	require.Len(t, wide.Queries, len(narrow.Queries)+1+2*2, "the list of regions, and two questions in each of two others")
}

func TestARegionThatCannotBeAskedIsInTheProof(t *testing.T) {
	for name, c := range map[string]struct {
		given   func(s *scene) error
		unasked string
		clean   bool
	}{
		"the account has not enabled it": {func(s *scene) error { return s.AWS.SetRegion(zonesElsewhere, false) }, contract.RegionNotEnabled, true},
		"the organization denies it": {func(s *scene) error {
			s.AWS.Refuse(zonesElsewhere+"/*", -1, standin.DeniedBySCP)
			return nil
		}, contract.RegionDenied, true},
		"our own permission is missing": {func(s *scene) error {
			s.AWS.Refuse(zonesElsewhere+"/*", -1, standin.Denied)
			return nil
		}, "", false},
		"it does not answer": {func(s *scene) error {
			s.AWS.Refuse(zonesElsewhere+"/tagging:GetResources", -1, "InternalFailure")
			return nil
		}, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			s := everywhereScene(t)
			require.NoError(t, c.given(s))
			pass := s.client.Verify(t.Context(), s.target)
			require.Equal(t, c.clean, pass.Clean, pass.Leftovers)
			queries := asked(pass, zonesElsewhere)
			require.NotEmpty(t, queries, "the proof names the region")
			for _, q := range queries {
				require.Equal(t, c.unasked, q.Unasked, q)
				require.Equal(t, c.clean, q.Err == "", q)
			}
			if !c.clean {
				require.Equal(t, "refused-query", pass.Leftovers[0].Type)
				require.Contains(t, pass.Leftovers[0].Advice(), "allow the runner tag:GetResources in "+zonesElsewhere)
			}
			_, err := s.client.Remove(t.Context(), s.target)
			require.Equal(t, name != "it does not answer", err == nil, "what a removal may not see, the count tells: %v", err)
		})
	}
}

// The index keeps deleted resources for a while, and sees new ones late.
func TestWhatTheIndexRemembersIsNotLeft(t *testing.T) {
	s := everywhereScene(t)
	tags := map[string]string{kubeKey + mine: "owned", "ClusterId": s.target.Cluster, "InstallationId": "test"}
	s.plant(t, standin.Resource{Service: "ec2", Type: "snapshot", Region: zonesElsewhere, Tags: tags})
	s.AWS.SetLag(standin.Lag{Delete: time.Hour})
	deleted, err := s.client.Remove(t.Context(), s.target)
	require.NoError(t, err)
	require.Len(t, deleted, 1)
	pass := s.client.Verify(t.Context(), s.target)
	require.True(t, pass.Clean, pass.Leftovers)
	counted := 0
	for _, q := range asked(pass, zonesElsewhere) {
		counted += q.Count
	}
	require.Positive(t, counted, "the index still lists it, and asking for the snapshot itself found nothing")
}

func TestABucketOfAnyNameIsFoundByItsTags(t *testing.T) {
	s := everywhereScene(t)
	exact := map[string]string{"ClusterId": s.target.Cluster, "InstallationId": "test"}
	s.taggedBucket(t, "backups-of-demo", exact)
	s.taggedBucket(t, "reports", map[string]string{"ClusterId": s.target.Cluster, "InstallationId": "other"})
	pass := s.client.Verify(t.Context(), s.target)
	require.Equal(t, []string{"backups-of-demo", "reports"}, buckets(pass))
	deleted, err := s.client.Remove(t.Context(), s.target)
	require.Equal(t, []string{"bucket backups-of-demo"}, deleted)
	require.ErrorContains(t, err, "bucket reports has the tag InstallationId=other: it was not deleted")
	pass = s.client.Verify(t.Context(), s.target)
	require.Equal(t, []string{"reports"}, buckets(pass), "the index lists both")
	require.Contains(t, pass.Leftovers[0].Advice(), "aws s3 rb --force s3://reports")
}

// taggedBucket makes a bucket, which the tagging API of another region lists.
func (s *scene) taggedBucket(t *testing.T, name string, tags map[string]string) {
	t.Helper()
	s.bucket(t, name, "")
	var set []s3types.Tag
	for key, value := range tags {
		set = append(set, s3types.Tag{Key: &key, Value: &value})
	}
	_, err := s.S3.Client().PutBucketTagging(t.Context(), &s3.PutBucketTaggingInput{Bucket: awssdk.String(name), Tagging: &s3types.Tagging{TagSet: set}})
	require.NoError(t, err)
	s.plant(t, standin.Resource{Service: "s3", Type: "bucket", Name: name, Region: zonesElsewhere, Tags: tags})
}

func buckets(pass contract.Pass) (names []string) {
	for _, l := range pass.Leftovers {
		if l.Type == "bucket" {
			names = append(names, l.ID)
		}
	}
	slices.Sort(names)
	return names
}
