package aws_test

import (
	"strings"
	"testing"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	r53types "github.com/aws/aws-sdk-go-v2/service/route53/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/stretchr/testify/require"

	standin "github.com/ocpctl/ocpctl/devstack/aws"
	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/runner/cloud"
	"github.com/ocpctl/ocpctl/runner/installer"
)

// refusalsOf removes and returns the reason for each resource that stayed, by the id under which the count has it.
func (s *scene) refusalsOf(t *testing.T) map[string]string {
	t.Helper()
	_, err := s.client.Remove(t.Context(), s.target)
	counted := s.client.Verify(t.Context(), s.target)
	found := map[string]string{}
	for _, left := range cloud.AllUndeleted(err) {
		refused, ok := installer.RefusalOf(left.ID, left.Err)
		require.True(t, ok, left)
		found[left.ID] = refused.Reason
		named := false
		for _, l := range counted.Leftovers {
			named = named || l.ID == left.ID
		}
		require.True(t, named, "the count does not call it %s: %+v", left.ID, counted.Leftovers)
	}
	return found
}

func TestWhatTheRemovalMayNotTouchIsKeptWithItsReason(t *testing.T) {
	const infra, cco = "kept-c9772", "kept-k3v7q2m4ab"
	s := newScene(t, "kept", "us-east-1")
	s.target.Identities = []contract.Identity{{InfraID: infra, CCOName: cco, Account: account, Region: "us-east-1"}}
	own := map[string]string{"kubernetes.io/cluster/" + infra: "owned"}
	for _, r := range []standin.Resource{
		{Service: "iam", Type: "role", Name: cco + "-admins"},
		{Service: "iam", Type: "role", Name: infra + "-worker-role", Tags: own},
		{Service: "iam", Type: "instance-profile", Name: "tools", Uses: []string{"role/" + infra + "-worker-role"}},
	} {
		_, err := s.AWS.Plant(r)
		require.NoError(t, err)
	}
	require.NoError(t, s.S3.CreateBucket(t.Context(), infra+"-image-registry-us-east-1-abc"))
	s.write(t, r53types.ResourceRecordSet{Name: awssdk.String("api.kept.labs.example.com."), Type: "A", TTL: awssdk.Int64(60), ResourceRecords: []r53types.ResourceRecord{{Value: awssdk.String("192.0.2.1")}}})
	_, zone := s.dns(t)
	require.Equal(t, map[string]string{
		cco + "-admins":                         "KeptUntagged",
		infra + "-worker-role":                  "KeptInUse",
		infra + "-image-registry-us-east-1-abc": "KeptUntagged",
		zone + "/api.kept.labs.example.com/A":   "KeptRecord",
	}, s.refusalsOf(t))
}

// text is a TXT record as external-dns writes it.
func text(name, owner string) r53types.ResourceRecordSet {
	return r53types.ResourceRecordSet{Name: awssdk.String(name), Type: "TXT", TTL: awssdk.Int64(300), ResourceRecords: []r53types.ResourceRecord{
		{Value: awssdk.String(`"heritage=external-dns,external-dns/owner=` + owner + `,external-dns/resource=service/default/shop"`)},
	}}
}

func address(name string) r53types.ResourceRecordSet {
	return r53types.ResourceRecordSet{Name: awssdk.String(name), Type: "A", TTL: awssdk.Int64(300), ResourceRecords: []r53types.ResourceRecord{{Value: awssdk.String("192.0.2.10")}}}
}

func TestOnlyRecordsThatTheClustersOwnExternalDNSMadeAreDeleted(t *testing.T) {
	const infra, below = "dns-c9772", ".dns.labs.example.com."
	s := newScene(t, "dns", "us-east-1")
	s.target.Identities = []contract.Identity{{InfraID: infra, ClusterUUID: "5f0c1b1e-0000-4000-8000-000000000001", Account: account, Region: "us-east-1"}}
	for _, r := range []r53types.ResourceRecordSet{
		address("shop" + below), text("a-shop"+below, infra), text("shop"+below, infra), // as version 0.12 and later writes them
		address("web" + below), text("external-dns-a-web"+below, s.target.Identities[0].ClusterUUID), // as OpenShift's operator writes them
		address("prod" + below), text("a-prod"+below, "prod"), // another's
		address("both" + below), text("a-both"+below, infra), text("both"+below, "default"), // two say it is theirs
		address("mail" + below),                                                              // nobody says it
		address("shop.dnsx.labs.example.com."), text("a-shop.dnsx.labs.example.com.", infra), // not below the cluster's domain
	} {
		s.write(t, r)
	}
	s.write(t, r53types.ResourceRecordSet{Name: awssdk.String("forged" + below), Type: "TXT", TTL: awssdk.Int64(60), ResourceRecords: []r53types.ResourceRecord{{Value: awssdk.String(`"external-dns/owner=` + infra + `"`)}}})
	_, zone := s.dns(t)
	record := func(name, kind string) string { return zone + "/" + name + ".dns.labs.example.com/" + kind }
	require.Equal(t, map[string]string{
		record("prod", "A"): "KeptRecord", record("a-prod", "TXT"): "KeptRecord", record("both", "A"): "KeptRecord", record("both", "TXT"): "KeptRecord",
		record("mail", "A"): "KeptRecord", record("forged", "TXT"): "KeptRecord",
	}, s.refusalsOf(t))
	left := strings.Join(s.Left(t, "dns"), "\n")
	for _, gone := range []string{"shop" + below, "web" + below} {
		require.NotContains(t, left, gone)
	}
	require.Contains(t, left, "shop.dnsx.labs.example.com.")
}

func TestEveryRefusalOfADeletionIsToldForItsResource(t *testing.T) {
	const infra, cco = "refused-c9772", "refused-k3v7q2m4ab"
	own := map[string]string{"kubernetes.io/cluster/" + infra: "owned"}
	for _, c := range []struct {
		how, reason string
		plant       standin.Resource
		id          string
	}{
		{"scp", "DeniedByPolicy", standin.Resource{Service: "iam", Type: "role", Name: infra + "-master-role", Tags: own}, infra + "-master-role"},
		{"boundary", "DeniedByPolicy", standin.Resource{Service: "iam", Type: "instance-profile", Name: infra + "-master-profile", Tags: own}, infra + "-master-profile"},
		{"permission", "PermissionMissing", standin.Resource{Service: "iam", Type: "role", Name: infra + "-master-role", Tags: own}, infra + "-master-role"},
		{"backup", "HeldByBackup", standin.Resource{Service: "ec2", Type: "image", ID: "ami-0a1b2c3d4e5f60718", Attrs: map[string]string{"name": infra + "-master"}, Tags: own}, "ami-0a1b2c3d4e5f60718"},
		{"broken", "CloudBroken", standin.Resource{Service: "iam", Type: "role", Name: infra + "-master-role", Tags: own}, infra + "-master-role"},
	} {
		t.Run(c.how, func(t *testing.T) {
			s := newScene(t, "refused", "us-east-1")
			s.target.Identities = []contract.Identity{{InfraID: infra, CCOName: cco, Account: account, Region: "us-east-1"}}
			planted, err := s.AWS.Plant(c.plant)
			require.NoError(t, err)
			require.NoError(t, s.AWS.Protect(planted.ID, c.how))
			require.Equal(t, map[string]string{c.id: c.reason}, s.refusalsOf(t))
			require.NoError(t, s.AWS.Unpin(planted.ID))
			require.Empty(t, s.refusalsOf(t))
		})
	}
	s := newScene(t, "refused", "us-east-1")
	require.ErrorContains(t, s.AWS.Protect("i-1", "nonsense"), "give backup, boundary, broken, deletion, permission, resource-policy, scp, termination")
}

// A denied step before the deletion is the cause; IAM's refusal to delete what is still attached is not.
func TestADeniedStepIsTheCauseAndNotWhatFollows(t *testing.T) {
	const infra = "steps-c9772"
	s := newScene(t, "steps", "us-east-1")
	s.target.Identities = []contract.Identity{{InfraID: infra, Account: account, Region: "us-east-1"}}
	own := map[string]string{"kubernetes.io/cluster/" + infra: "owned"}
	for _, r := range []standin.Resource{
		{Service: "iam", Type: "role", Name: infra + "-master-role", Tags: own},
		{Service: "iam", Type: "instance-profile", Name: infra + "-master-profile", Tags: own, Uses: []string{"role/" + infra + "-master-role"}},
	} {
		_, err := s.AWS.Plant(r)
		require.NoError(t, err)
	}
	s.AWS.Refuse("iam:RemoveRoleFromInstanceProfile", -1, standin.DeniedBySCP)
	found := s.refusalsOf(t)
	require.Equal(t, "DeniedByPolicy", found[infra+"-master-profile"], found)
}

func TestLockedObjectsAreToldForTheirBucket(t *testing.T) {
	const infra = "locked-c9772"
	s := newScene(t, "locked", "us-east-1")
	s.target.Identities = []contract.Identity{{InfraID: infra, Account: account, Region: "us-east-1"}}
	bucket := "openshift-bootstrap-data-" + infra
	api := s.S3.Client()
	_, err := api.CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: &bucket, ObjectLockEnabledForBucket: awssdk.Bool(true)})
	require.NoError(t, err)
	_, err = api.PutObject(t.Context(), &s3.PutObjectInput{
		Bucket: &bucket, Key: awssdk.String("bootstrap.ign"), Body: strings.NewReader("{}"), ObjectLockLegalHoldStatus: s3types.ObjectLockLegalHoldStatusOn,
	})
	require.NoError(t, err)
	require.Equal(t, map[string]string{bucket: "ObjectsLocked"}, s.refusalsOf(t))
	_, err = api.PutObjectLegalHold(t.Context(), &s3.PutObjectLegalHoldInput{
		Bucket: &bucket, Key: awssdk.String("bootstrap.ign"), LegalHold: &s3types.ObjectLockLegalHold{Status: s3types.ObjectLockLegalHoldStatusOff},
	})
	require.NoError(t, err)
	require.Empty(t, s.refusalsOf(t))
}

func TestASnapshotThatSomebodysImageUsesIsToldWithTheImage(t *testing.T) {
	const infra, snapshot = "pictured-c9772", "snap-0123456789abcdef0"
	s := newScene(t, "pictured", "us-east-1")
	s.target.Identities = []contract.Identity{{InfraID: infra, Account: account, Region: "us-east-1"}}
	_, err := s.AWS.Plant(standin.Resource{Service: "ec2", Type: "snapshot", ID: snapshot})
	require.NoError(t, err)
	images := map[string]string{}
	for _, name := range []string{infra + "-master", "somebodys"} {
		planted, err := s.AWS.Plant(standin.Resource{Service: "ec2", Type: "image", Uses: []string{snapshot}, Attrs: map[string]string{"name": name, "snapshot-id": snapshot}})
		require.NoError(t, err)
		images[name] = planted.ID
	}
	_, err = s.client.Remove(t.Context(), s.target)
	left := cloud.AllUndeleted(err)
	require.Len(t, left, 1, err)
	refused, _ := installer.RefusalOf(left[0].ID, left[0].Err)
	require.Equal(t, []string{snapshot, "SnapshotUsedByImage", "aws ec2 deregister-image --image-id " + images["somebodys"]}, []string{left[0].ID, refused.Reason, refused.Command})
}
