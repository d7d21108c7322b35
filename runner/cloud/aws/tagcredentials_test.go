package aws_test

import (
	"testing"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/stretchr/testify/require"

	standin "github.com/ocpctl/ocpctl/devstack/aws"
)

func TestWhatCcoctlCreatedGetsTheClustersTagsBesideItsOwn(t *testing.T) {
	s := leaky(t)
	s.target.Tags = map[string]string{"InstallationId": "test", "TTLExpiry": "2026-12-01T00:00:00Z"}
	const operator = myCCO + "-openshift-ingress"
	s.role(t, operator, ccoKey+myCCO+"=owned")
	provider := s.plant(t, standin.Resource{Service: "iam", Type: "oidc-provider", Name: myCCO + "-oidc" + oidcHost, Tags: map[string]string{ccoKey + myCCO: "owned"}})
	s.bucket(t, myCCO+"-oidc", ccoKey+myCCO+"=owned")
	s.role(t, theirCCO+"-openshift-ingress", ccoKey+theirCCO+"=owned")
	want := map[string]string{ccoKey + myCCO: "owned", "ClusterId": s.target.Cluster, "InstallationId": "test", "TTLExpiry": "2026-12-01T00:00:00Z"}
	for range 2 { // and again
		require.NoError(t, s.client.TagCredentials(t.Context(), s.target, []string{operator}))
		require.Equal(t, want, s.bucketTags(t, myCCO+"-oidc"))
		for _, r := range s.AWS.Resources("") {
			switch {
			case r.ID == provider.ID || r.Name == operator && r.Type == "role":
				require.Equal(t, want, r.Tags, r.Name)
			default:
				require.NotContains(t, r.Tags, "ClusterId", r.Name)
			}
		}
	}
	require.ErrorContains(t, s.client.TagCredentials(t.Context(), s.target, []string{myCCO + "-openshift-gone"}), "tag role "+myCCO+"-openshift-gone")
	s.target.Identities[0].CCOName = theirCCO
	require.EqualError(t, s.client.TagCredentials(t.Context(), s.target, nil), "there is no bucket "+theirCCO+"-oidc")
	s.bucket(t, theirCCO+"-oidc", "ClusterId=clu_other")
	require.EqualError(t, s.client.TagCredentials(t.Context(), s.target, nil), "bucket "+theirCCO+"-oidc has the tag ClusterId=clu_other of another cluster")
	s.target.Identities[0].CCOName = ""
	require.ErrorContains(t, s.client.TagCredentials(t.Context(), s.target, nil), "no name of what ccoctl created")
}

func (s *scene) bucketTags(t *testing.T, name string) map[string]string {
	t.Helper()
	out, err := s.S3.Client().GetBucketTagging(t.Context(), &s3.GetBucketTaggingInput{Bucket: &name})
	require.NoError(t, err)
	tags := map[string]string{}
	for _, tag := range out.TagSet {
		tags[awssdk.ToString(tag.Key)] = awssdk.ToString(tag.Value)
	}
	return tags
}
