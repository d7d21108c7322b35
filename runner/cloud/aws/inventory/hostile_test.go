package inventory_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/aws"
	"github.com/ocpctl/ocpctl/internal/contract"
)

func TestADeniedRegionIsAnErrorOfItsPartsAlone(t *testing.T) {
	c := start(t, aws.Config{Regions: []string{home, "eu-west-1"}})
	c.plant(t, aws.Resource{Service: "ec2", Type: "vpc", Region: "eu-west-1", Tags: map[string]string{owned: "owned"}})
	c.plant(t, aws.Resource{Service: "ec2", Type: "vpc", Region: home, Tags: map[string]string{owned: "owned"}})
	c.Refuse("eu-west-1/*", -1, aws.DeniedBySCP)
	for _, service := range []string{"ec2", "elasticloadbalancing", "tagging"} {
		seen, err := list(t, c.client, "eu-west-1/"+service)
		require.ErrorContains(t, err, "explicit deny in a service control policy")
		require.NotContains(t, err.Error(), "RequestID")
		require.Empty(t, seen)
	}
	require.Len(t, must(t, c.client, home+"/ec2"), 1)
	_, err := list(t, c.client, "ap-east-1/ec2")
	require.ErrorContains(t, err, "OptInRequired")
}

func TestOneRefusedListDoesNotHideTheOthers(t *testing.T) {
	c := start(t, aws.Config{})
	c.plant(t, aws.Resource{Service: "ec2", Type: "vpc", Tags: map[string]string{owned: "owned"}})
	c.plant(t, aws.Resource{Service: "ec2", Type: "snapshot", Tags: map[string]string{owned: "owned"}})
	c.Refuse("DescribeVolumes", -1, aws.Denied)
	c.Refuse("DescribeImages", -1, aws.Denied)
	seen, err := list(t, c.client, home+"/ec2")
	require.ErrorContains(t, err, "EC2 DescribeVolumes was refused with UnauthorizedOperation")
	require.ErrorContains(t, err, "and 1 more lists failed, the last one because EC2 DescribeImages")
	require.ElementsMatch(t, []string{"vpc ", "snapshot "}, names(seen))
}

func TestABucketWhoseTagsAreRefusedIsSeenAndMakesItsPartIncomplete(t *testing.T) {
	c := start(t, aws.Config{Regions: []string{home, "eu-west-1"}})
	c.plant(t, aws.Resource{Service: "s3", Type: "bucket", Name: "shop-oidc", Region: "eu-west-1", Tags: map[string]string{"ClusterId": "clu_1"}})
	seen := must(t, c.client, "global/s3")
	require.Equal(t, contract.SeenResource{Type: "bucket", Name: "shop-oidc", Region: "eu-west-1", Tags: map[string]string{"ClusterId": "clu_1"}, ID: "arn:aws:s3:::shop-oidc",
		MadeAt: seen["arn:aws:s3:::shop-oidc"].MadeAt}, seen["arn:aws:s3:::shop-oidc"])
	require.False(t, seen["arn:aws:s3:::shop-oidc"].MadeAt.IsZero())
	c.Refuse("GetBucketTagging", -1, aws.Denied)
	seen, err := list(t, c.client, "global/s3")
	require.ErrorContains(t, err, "GetBucketTagging")
	require.Len(t, seen, 1)
}

func TestThrottledCallsAreRepeatedAndCounted(t *testing.T) {
	c := start(t, aws.Config{})
	for range 30 {
		c.plant(t, aws.Resource{Service: "ec2", Type: "vpc", Tags: map[string]string{owned: "owned"}})
	}
	c.Throttle("*", 3, 4)
	require.Len(t, must(t, c.client, home+"/ec2"), 30)
	require.Positive(t, c.client.Slowed())
	require.Greater(t, c.client.CallsOf(home+"/ec2"), 19+c.client.Slowed()-1)
}

func TestShortAndEmptyPagesDoNotEndAList(t *testing.T) {
	c := start(t, aws.Config{})
	want := 0
	for range 7 {
		for _, r := range []aws.Resource{
			{Service: "ec2", Type: "vpc"}, {Service: "ec2", Type: "volume"}, {Service: "ec2", Type: "instance"}, {Service: "iam", Type: "role"},
			{Service: "s3", Type: "bucket"}, {Service: "route53", Type: "hostedzone"}, {Service: "rds"},
			{Service: "elasticloadbalancing", Type: "loadbalancer"}, {Service: "elasticloadbalancing", Type: "targetgroup"},
		} {
			want++
			r.Tags, r.Name = map[string]string{owned: "owned"}, infraID+"-image-registry-"+string(rune('a'+want%26))+string(rune('a'+want/26))
			switch r.Service {
			case "rds":
				r.ID = "arn:aws:rds:us-east-1:123456789012:db:" + r.Name
			case "elasticloadbalancing":
				r.ID = "arn:aws:elasticloadbalancing:us-east-1:123456789012:" + r.Type + "/net/" + r.Name + "/1"
			case "route53":
				r.ID, r.Attrs, r.Name = "Z"+r.Name, map[string]string{"private": "true"}, r.Name+".elsewhere.example."
			}
			c.plant(t, r)
		}
	}
	require.Len(t, all(t, c.client, home), want)
	c.Pages(1)
	require.Len(t, all(t, c.client, home), want)
}

func TestWhatWasJustDeletedIsAtWorstSeenOnceMore(t *testing.T) {
	c := start(t, aws.Config{})
	vpc := c.plant(t, aws.Resource{Service: "ec2", Type: "vpc", Tags: map[string]string{owned: "owned"}})
	c.SetLag(aws.Lag{Create: time.Hour, Delete: time.Hour, IAM: time.Hour})
	require.Empty(t, all(t, c.client, home), "a list that lags does not show it yet")
	c.SetLag(aws.Lag{})
	require.Len(t, all(t, c.client, home), 1)
	c.SetLag(aws.Lag{Delete: time.Hour})
	require.NoError(t, c.Free(vpc))
	require.Empty(t, all(t, c.client, home), "the tagging API still lists it, and is not believed")
}

func TestAPartWhoseCloudDoesNotAnswerEndsAtItsFirstList(t *testing.T) {
	c := start(t, aws.Config{})
	require.NoError(t, c.Stop())
	_, err := list(t, c.client, home+"/ec2")
	require.ErrorContains(t, err, "was not answered")
	require.Equal(t, 8, c.client.CallsOf(home+"/ec2"), "one list, with all its tries")
}

func TestAStopEndsAListWithItsCause(t *testing.T) {
	c := start(t, aws.Config{})
	c.plant(t, aws.Resource{Service: "ec2", Type: "vpc", Tags: map[string]string{owned: "owned"}})
	enough := errors.New("the server requested a stop")
	ctx, stop := context.WithCancelCause(t.Context())
	err := c.client.List(ctx, home+"/ec2", func([]contract.SeenResource) error { stop(enough); return nil })
	require.ErrorIs(t, err, enough)
	err = c.client.List(t.Context(), home+"/ec2", func([]contract.SeenResource) error { return enough })
	require.Equal(t, enough, err, "an error of whoever takes the pages ends the listing as it is")
}
