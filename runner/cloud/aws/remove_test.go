package aws_test

import (
	"strings"
	"testing"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/route53"
	r53types "github.com/aws/aws-sdk-go-v2/service/route53/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/stretchr/testify/require"

	standin "github.com/ocpctl/ocpctl/devstack/aws"
	"github.com/ocpctl/ocpctl/devstack/installer"
	"github.com/ocpctl/ocpctl/internal/contract"
)

func TestRemoveTakesWhatDestroyLeavesAfterAKill(t *testing.T) {
	for step, want := range map[string]string{
		"zone-tags": "hosted zone", "private-records": "A record api.", "bucket-tags": "bucket openshift-bootstrap-data-",
	} {
		t.Run(step, func(t *testing.T) {
			s := newScene(t, "removal-"+step, "us-east-2")
			s.render(t)
			require.NoError(t, installer.WriteFaults(s.Faults, installer.Faults{"create": {FailAt: step, Kill: true, Times: 1}}))
			require.Equal(t, -1, s.Run(t, s.dir, "create cluster").Code)
			s.Must(t, s.dir, "destroy cluster")
			require.False(t, s.client.Verify(t.Context(), s.target).Clean, "the leak is seen")

			deleted, err := s.client.Remove(t.Context(), s.target)
			require.NoError(t, err)
			require.Len(t, deleted, 1)
			require.Contains(t, deleted[0], want)
			require.Empty(t, s.Left(t, s.target.Name))
			require.True(t, s.client.Verify(t.Context(), s.target).Clean)
			deleted, err = s.client.Remove(t.Context(), s.target)
			require.NoError(t, err)
			require.Empty(t, deleted, "a second one finds nothing")
		})
	}
}

func TestRemoveDeletesByExactNameOnly(t *testing.T) {
	s := newScene(t, "exact", "us-east-1")
	s.target.Identities = []contract.Identity{{InfraID: "exact-c9772", Account: account, Region: "us-east-1"}}
	s.record(t, "api.exact.labs.example.com.")
	s.record(t, `\052.apps.exact.labs.example.com.`)
	s.record(t, "shop.exact.labs.example.com.")   // a workload's
	s.record(t, "api.notexact.labs.example.com.") // another's
	foreign := s.zone(t, "somebody-else-x7k2p")   // same name, not our installer's
	for _, bucket := range []string{"openshift-bootstrap-data-exact-c9772", "openshift-bootstrap-data-exact-c9772x"} {
		require.NoError(t, s.S3.CreateBucket(t.Context(), bucket))
		_, err := s.S3.Client().PutObject(t.Context(), &s3.PutObjectInput{Bucket: &bucket, Key: awssdk.String("bootstrap.ign"), Body: strings.NewReader("{}")})
		require.NoError(t, err)
	}
	deleted, err := s.client.Remove(t.Context(), s.target)
	require.ErrorContains(t, err, foreign+" (exact.labs.example.com) was not created for this cluster", "a refusal is told")
	require.Len(t, deleted, 3, deleted)
	left := strings.Join(s.Left(t, "exact"), "\n")
	require.Contains(t, left, "shop.exact")
	require.Contains(t, left, "api.notexact")
	require.Contains(t, left, foreign)
	require.Contains(t, left, "openshift-bootstrap-data-exact-c9772x")
	require.NotContains(t, left, `\052.apps.exact`)
}

func TestEveryPublicZoneOfTheBaseDomainCounts(t *testing.T) {
	s := newScene(t, "twozones", "us-east-1")
	s.target.Identities = []contract.Identity{{InfraID: "twozones-c9772", Account: account, Region: "us-east-1"}}
	api, first := s.dns(t)
	for _, reference := range []string{"second", "third"} { // whichever comes first, the other holds the record
		_, err := api.CreateHostedZone(t.Context(), &route53.CreateHostedZoneInput{Name: awssdk.String(s.target.BaseDomain), CallerReference: &reference})
		require.NoError(t, err)
	}
	zones, err := api.ListHostedZonesByName(t.Context(), &route53.ListHostedZonesByNameInput{DNSName: awssdk.String(s.target.BaseDomain)})
	require.NoError(t, err)
	for _, z := range zones.HostedZones {
		id := strings.TrimPrefix(*z.Id, "/hostedzone/")
		s.writeTo(t, id, "api.twozones.labs.example.com.")
		require.Equal(t, []string{"record"}, kinds(s.client.Verify(t.Context(), s.target)), "in %s, the first is %s", id, first)
		deleted, err := s.client.Remove(t.Context(), s.target)
		require.NoError(t, err)
		require.Len(t, deleted, 1)
	}
	require.True(t, s.client.Verify(t.Context(), s.target).Clean)
}

func TestRemoveLeavesTheRecordsOfAnotherClusterOfTheName(t *testing.T) {
	s := newScene(t, "theirs", "us-east-1")
	s.target.Identities = []contract.Identity{{InfraID: "theirs-c9772", Account: account, Region: "us-east-1"}}
	s.alias(t, "api.theirs.labs.example.com.", "theirs-x7k2p-ext-0123.elb.us-east-1.amazonaws.com.")
	s.record(t, `\052.apps.theirs.labs.example.com.`)
	deleted, err := s.client.Remove(t.Context(), s.target)
	require.ErrorContains(t, err, "which belongs to another cluster or to somebody")
	require.Empty(t, deleted)
	require.Len(t, s.Left(t, "theirs"), 2)

	s.target.Identities = append(s.target.Identities, contract.Identity{InfraID: "theirs-x7k2p", Account: account})
	deleted, err = s.client.Remove(t.Context(), s.target)
	require.NoError(t, err)
	require.Len(t, deleted, 2, "it was ours all along")
}

func TestRemoveLeavesRecordsThatNoInstallerMakes(t *testing.T) {
	for name, record := range map[string]r53types.ResourceRecordSet{
		"api":     {Name: awssdk.String("api.people.labs.example.com."), Type: "A", ResourceRecords: []r53types.ResourceRecord{{Value: awssdk.String("192.0.2.1")}}},
		"service": {Name: awssdk.String("api.people.labs.example.com."), Type: "CNAME", ResourceRecords: []r53types.ResourceRecord{{Value: awssdk.String("service.example.com.")}}},
		"apps":    {Name: awssdk.String(`\052.apps.people.labs.example.com.`), Type: "A", ResourceRecords: []r53types.ResourceRecord{{Value: awssdk.String("192.0.2.1")}}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t, "people", "us-east-1")
			s.target.Identities = []contract.Identity{{InfraID: "people-c9772", Account: account, Region: "us-east-1"}}
			record.TTL = awssdk.Int64(60)
			s.write(t, record)
			deleted, err := s.client.Remove(t.Context(), s.target)
			require.ErrorContains(t, err, "which belongs to another cluster or to somebody")
			require.Empty(t, deleted)
		})
	}
	s := newScene(t, "people", "us-east-1")
	s.target.Identities = []contract.Identity{{InfraID: "people-c9772", Account: account, Region: "us-east-1"}}
	s.write(t, r53types.ResourceRecordSet{Name: awssdk.String("api.people.labs.example.com."), Type: "CNAME", TTL: awssdk.Int64(60), ResourceRecords: []r53types.ResourceRecord{{Value: s.balancer().DNSName}}})
	deleted, err := s.client.Remove(t.Context(), s.target)
	require.NoError(t, err)
	require.Len(t, deleted, 1, "where there are no aliases, the installer makes CNAMEs")
}

func TestRemoveLeavesATaggedZoneAndItsTwinsToTheInstaller(t *testing.T) {
	s := newScene(t, "twins", "us-east-1")
	s.render(t)
	s.Must(t, s.dir, "create cluster")
	before := s.Left(t, "twins")
	deleted, err := s.client.Remove(t.Context(), s.target)
	require.ErrorContains(t, err, "still exist", "its nodes live, so what they work with stays")
	require.Empty(t, deleted)
	require.Equal(t, before, s.Left(t, "twins"))
}

func TestRemoveTouchesNothingInAnotherAccountOrWithoutARecord(t *testing.T) {
	s := newScene(t, "wary", "us-east-1")
	s.record(t, "api.wary.labs.example.com.")
	deleted, err := s.client.Remove(t.Context(), s.target)
	require.NoError(t, err)
	require.Empty(t, deleted, "nothing was ever recorded")
	s.target.Identities = []contract.Identity{{InfraID: "wary-c9772", Account: "999999999999"}}
	_, err = s.client.Remove(t.Context(), s.target)
	require.ErrorContains(t, err, "belong to account 123456789012, but the cluster belongs to account 999999999999")
	require.NotEmpty(t, s.Left(t, "api.wary"))
}

func TestAnImagesSnapshotIsNamedWithIt(t *testing.T) {
	s := newScene(t, "picture", "us-east-1")
	s.target.Identities = []contract.Identity{{InfraID: "picture-c9772", Account: account}}
	_, err := s.AWS.Plant(standin.Resource{Service: "ec2", Type: "image", Attrs: map[string]string{"name": "picture-c9772-master", "snapshot-id": "snap-0123456789abcdef0"}})
	require.NoError(t, err)
	require.Equal(t, []string{"image", "snapshot"}, kinds(s.client.Verify(t.Context(), s.target)))
}

func TestAnInstallKilledAtAnyStepIsCleanedUp(t *testing.T) {
	for _, step := range installer.Steps() {
		t.Run(step, func(t *testing.T) {
			s := newScene(t, "any-"+step, "us-west-2")
			s.render(t)
			require.NoError(t, installer.WriteFaults(s.Faults, installer.Faults{"create": {FailAt: step, Kill: true, Times: 1}}))
			require.Equal(t, -1, s.Run(t, s.dir, "create cluster").Code)
			s.Must(t, s.dir, "destroy cluster")
			_, err := s.client.Remove(t.Context(), s.target)
			require.NoError(t, err)
			require.Empty(t, s.Left(t, s.target.Name), "counted by the stand-ins")
			p := s.client.Verify(t.Context(), s.target)
			require.True(t, p.Clean, p.Leftovers)
		})
	}
}

func TestARefusedDeletionIsToldWithWhatWasDeleted(t *testing.T) {
	s := newScene(t, "half", "us-east-1")
	s.target.Identities = []contract.Identity{{InfraID: "half-c9772", Account: account, Region: "us-east-1"}}
	s.record(t, "api.half.labs.example.com.")
	require.NoError(t, s.S3.CreateBucket(t.Context(), "openshift-bootstrap-data-half-c9772"))
	s.AWS.Refuse("route53:ChangeResourceRecordSets", -1, "AccessDenied")
	deleted, err := s.client.Remove(t.Context(), s.target)
	require.ErrorContains(t, err, "delete A record api.half.labs.example.com")
	require.Equal(t, []string{"bucket openshift-bootstrap-data-half-c9772"}, deleted)
}
