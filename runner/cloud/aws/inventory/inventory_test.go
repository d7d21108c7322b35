package inventory_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/deploy/terraform/policies"
	"github.com/ocpctl/ocpctl/devstack/aws"
	"github.com/ocpctl/ocpctl/devstack/aws/iampolicy"
	"github.com/ocpctl/ocpctl/devstack/installer/installertest"
	"github.com/ocpctl/ocpctl/internal/contract"
	runnercloud "github.com/ocpctl/ocpctl/runner/cloud"
	runneraws "github.com/ocpctl/ocpctl/runner/cloud/aws"
	"github.com/ocpctl/ocpctl/runner/cloud/aws/inventory"
)

func TestMain(m *testing.M) { installertest.Main(m) }

const (
	key, secretKey = "AKIADEMO0000EXAMPLE1", "demo-secret-access-key"

	account = "123456789012"
	home    = "us-east-1"
	infraID = "shop-x7k2p"
	owned   = "kubernetes.io/cluster/" + infraID
)

// cloud is an account and a client that looks through it.
type cloud struct {
	*aws.Server
	client *inventory.Client
}

func start(t testing.TB, cfg aws.Config) *cloud {
	t.Helper()
	cfg.AccessKey, cfg.SecretKey, cfg.Settle = key, secretKey, time.Millisecond
	server, err := aws.Start(context.Background(), cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Stop()) })
	return &cloud{Server: server, client: clientOf(t, config.WithBaseEndpoint(server.URL()),
		config.WithCredentialsProvider(credentials.NewStaticCredentialsProvider(key, secretKey, "")))}
}

// clientOf is quick: no test waits for a rate or for a retry.
func clientOf(t testing.TB, options ...func(*config.LoadOptions) error) *inventory.Client {
	t.Helper()
	client, err := inventory.New(t.Context(), inventory.Config{
		HomeRegion: home, BaseDomains: []string{"Labs.Example.com."}, CallsPerSecond: 100000, Backoff: time.Microsecond,
	}, options...)
	require.NoError(t, err)
	client.Rush()
	_, err = client.Account(t.Context())
	require.NoError(t, err)
	return client
}

func (c *cloud) plant(t testing.TB, r aws.Resource) string {
	t.Helper()
	out, err := c.Plant(r)
	require.NoError(t, err)
	return out.ID
}

// list lists one part and returns what it emitted, by type and id without the ARN's beginning.
func list(t testing.TB, client *inventory.Client, part string) (map[string]contract.SeenResource, error) {
	t.Helper()
	seen := map[string]contract.SeenResource{}
	err := client.List(t.Context(), part, func(page []contract.SeenResource) error {
		require.NotEmpty(t, page)
		for _, s := range page {
			_, twice := seen[s.ID]
			require.False(t, twice, "%s was emitted twice", s.ID)
			seen[s.ID] = s
		}
		return nil
	})
	return seen, err
}

func must(t testing.TB, client *inventory.Client, part string) map[string]contract.SeenResource {
	t.Helper()
	seen, err := list(t, client, part)
	require.NoError(t, err)
	return seen
}

// all lists every part of some regions.
func all(t testing.TB, client *inventory.Client, regions ...string) map[string]contract.SeenResource {
	t.Helper()
	seen := map[string]contract.SeenResource{}
	for _, part := range client.Parts(regions) {
		for id, s := range must(t, client, part) {
			_, twice := seen[id]
			require.False(t, twice, "%s belongs to two parts", id)
			seen[id] = s
		}
	}
	return seen
}

func names(seen map[string]contract.SeenResource) []string {
	out := []string{}
	for _, s := range seen {
		out = append(out, s.Type+" "+s.Name)
	}
	return out
}

func ec2ARN(kind, id string) string {
	return "arn:aws:ec2:" + home + ":" + account + ":" + kind + "/" + id
}

func TestTheAccountAndItsEnabledRegionsAreNamed(t *testing.T) {
	c := start(t, aws.Config{Regions: []string{"us-west-2", home}, OptedOut: []string{"ap-east-1"}})
	got, err := c.client.Account(t.Context())
	require.NoError(t, err)
	require.Equal(t, account, got)
	regions, err := c.client.Regions(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{home, "us-west-2"}, regions)
	require.Equal(t, []string{"global/iam", "global/route53", "global/s3", "us-west-2/ec2", "us-west-2/elasticloadbalancing", "us-west-2/tagging", "us-east-1/tagging"},
		c.client.Parts([]string{"us-west-2"}), "the tagging API covers global services in us-east-1 alone")
}

func TestAnUnknownPartAndAnUnknownAccountAreErrors(t *testing.T) {
	c := start(t, aws.Config{})
	_, err := list(t, c.client, home+"/quantum")
	require.ErrorContains(t, err, "knows no such part")
	fresh, err := inventory.New(t.Context(), inventory.Config{HomeRegion: home, CallsPerSecond: 1})
	require.NoError(t, err)
	_, err = list(t, fresh, home+"/ec2")
	require.ErrorContains(t, err, "account is not known")
	_, err = inventory.New(t.Context(), inventory.Config{HomeRegion: home})
	require.ErrorContains(t, err, "give a region and at least one call")
}

// An install makes whatever it makes: the stand-in's own count says what has to be seen.
func TestEverythingOfARealInstallIsSeen(t *testing.T) {
	w := installertest.Start(t)
	dir := installertest.Dir(t, installertest.InstallConfig("shop", "us-west-2", 2))
	w.Must(t, dir, "create cluster")
	client := clientOf(t)
	regions, err := client.Regions(t.Context())
	require.NoError(t, err)
	seen := all(t, client, regions...)
	byID := map[string]bool{}
	for id, s := range seen {
		byID[id[strings.LastIndexAny(id, "/")+1:]], byID[id], byID[s.Name] = true, true, true
	}
	left := w.AWS.Resources("shop")
	require.Greater(t, len(left), 40)
	for _, r := range left {
		switch {
		case r.Type == "security-group" && r.Name == "default", r.Type == "listener", r.Type == "route-table-association", r.Type == "access-key", r.Type == "policy": // they end with what they are part of
		case r.Type == "record" && !strings.HasPrefix(r.Name, "api.") && !strings.HasPrefix(r.Name, `\052.apps.`) && !strings.HasPrefix(r.Name, "api-int."):
		case r.Type == "record" && isPrivate(w.AWS, r.Parent): // they end with their zone
		default:
			require.True(t, byID[r.ID] || byID[r.Name] || byID[strings.TrimSuffix(r.Name, ".")], "%s %s (%s) was not seen", r.Type, r.ID, r.Name)
		}
	}
	for id, s := range seen {
		if s.Type == "bucket" { // in the stack's S3 server
			require.Regexp(t, `^shop-.{5}-image-registry-us-west-2-`, s.Name)
			continue
		}
		require.True(t, slices.ContainsFunc(left, func(r aws.Resource) bool {
			return r.ID == id || strings.HasSuffix(id, "/"+r.ID) || r.ARN() == id || strings.TrimSuffix(r.Name, ".") == s.Name
		}), "%s %s is no part of the cluster", s.Type, id)
	}
	require.Zero(t, client.Slowed())
	for _, service := range []string{"ec2", "iam", "elasticloadbalancing", "route53", "s3", "tagging"} {
		require.Positive(t, client.Calls()[service], service)
	}
}

func isPrivate(s *aws.Server, zone string) bool {
	for _, r := range s.All() {
		if r.ID == zone {
			return r.Attrs["private"] == "true"
		}
	}
	return false
}

func TestWhatLostItsTagsIsSeenByItsPlace(t *testing.T) {
	c := start(t, aws.Config{})
	vpc := c.plant(t, aws.Resource{Service: "ec2", Type: "vpc", Tags: map[string]string{owned: "owned"}})
	instance := c.plant(t, aws.Resource{Service: "ec2", Type: "instance", VPC: vpc, Attrs: map[string]string{"instance-type": "m6i.xlarge"}})
	volume := c.plant(t, aws.Resource{Service: "ec2", Type: "volume", Attrs: map[string]string{"attachment.instance-id": instance, "type": "gp3", "size": "120"}})
	snapshot := c.plant(t, aws.Resource{Service: "ec2", Type: "snapshot", Attrs: map[string]string{"volume-id": volume, "size": "120"}})
	nat := c.plant(t, aws.Resource{Service: "ec2", Type: "natgateway", VPC: vpc, Attrs: map[string]string{"allocation-id": "eipalloc-1"}})
	address := c.plant(t, aws.Resource{Service: "ec2", Type: "elastic-ip", ID: "eipalloc-1"})
	group := c.plant(t, aws.Resource{Service: "ec2", Type: "security-group", VPC: vpc, Name: "made-by-somebody"})
	balancer := "arn:aws:elasticloadbalancing:us-east-1:123456789012:loadbalancer/net/a1b2/1"
	c.plant(t, aws.Resource{ID: balancer, Name: "a1b2", VPC: vpc, Attrs: map[string]string{"type": "network"}})
	image := c.plant(t, aws.Resource{Service: "ec2", Type: "image", Name: infraID + "-master", Attrs: map[string]string{"name": infraID + "-master", "snapshot-id": "snap-1"}})
	copied := c.plant(t, aws.Resource{Service: "ec2", Type: "snapshot", ID: "snap-1"})
	c.plant(t, aws.Resource{Service: "ec2", Type: "volume", Attrs: map[string]string{"type": "gp3"}}) // nobody's

	seen := all(t, c.client, home)
	for id, want := range map[string]contract.SeenResource{
		ec2ARN("vpc", vpc):              {Type: "vpc"},
		ec2ARN("instance", instance):    {Type: "instance", Within: ec2ARN("vpc", vpc), Detail: "m6i.xlarge"},
		ec2ARN("volume", volume):        {Type: "volume", Within: ec2ARN("instance", instance), Detail: "gp3 120"},
		ec2ARN("snapshot", snapshot):    {Type: "snapshot", Within: ec2ARN("volume", volume), Detail: "120"},
		ec2ARN("natgateway", nat):       {Type: "nat-gateway", Within: ec2ARN("vpc", vpc)},
		ec2ARN("elastic-ip", address):   {Type: "address", Within: ec2ARN("natgateway", nat)},
		ec2ARN("security-group", group): {Type: "security-group", Within: ec2ARN("vpc", vpc)},
		balancer:                        {Type: "load-balancer", Within: ec2ARN("vpc", vpc), Detail: "network"},
		ec2ARN("image", image):          {Type: "image"},
		ec2ARN("snapshot", copied):      {Type: "snapshot", Within: ec2ARN("image", image), Detail: "1"},
	} {
		s, there := seen[id]
		require.True(t, there, id)
		require.Equal(t, want, contract.SeenResource{Type: s.Type, Within: s.Within, Detail: s.Detail}, id)
		require.Equal(t, home, s.Region)
		delete(seen, id)
	}
	require.Empty(t, names(seen))
}

func TestStoppedAndSpotInstancesSayWhatTheyAre(t *testing.T) {
	c := start(t, aws.Config{})
	tags := map[string]string{"ClusterId": "clu_1"}
	stopped := c.plant(t, aws.Resource{Service: "ec2", Type: "instance", State: "stopped", Tags: tags, Attrs: map[string]string{"instance-type": "m6i.large"}})
	over := c.plant(t, aws.Resource{Service: "ec2", Type: "instance", State: "terminated", Tags: tags})
	seen := must(t, c.client, home+"/ec2")
	require.True(t, seen[ec2ARN("instance", stopped)].Stopped)
	require.NotContains(t, seen, ec2ARN("instance", over))
}

func TestLookAlikesOfOtherPeopleAreNotReported(t *testing.T) {
	c := start(t, aws.Config{})
	for _, r := range []aws.Resource{
		{Service: "ec2", Type: "vpc", Tags: map[string]string{"Name": "shop-proxy-vpc", "Owner": "maya", "Team": "web", "Environment": "dev"}},
		{Service: "ec2", Type: "subnet", Tags: map[string]string{owned: "shared"}},
		{Service: "ec2", Type: "instance", Tags: map[string]string{"ManagedBy": "terraform", "aws:autoscaling:groupName": "web"}},
		{Service: "ec2", Type: "security-group", Name: "shop-x7k2p"},
		{Service: "iam", Type: "role", Name: "shop-admin-role"},
		{Service: "iam", Type: "role", Name: "openshift-admin"},
		{Service: "iam", Type: "user", Name: "maya"},
		{Service: "iam", Type: "oidc-provider", Name: "token.actions.githubusercontent.com"},
		{Service: "s3", Type: "bucket", Name: "openshift-bootstrap-data"},
		{Service: "s3", Type: "bucket", Name: "shop-oidc-logs"},
		{Service: "route53", Type: "hostedzone", ID: "Z1", Name: "a.b.labs.example.com.", Attrs: map[string]string{"private": "false"}},
		{Service: "route53", Type: "hostedzone", ID: "Z2", Name: "xlabs.example.com.", Attrs: map[string]string{"private": "false"}},
		{ID: "arn:aws:rds:us-east-1:123456789012:db:orders", Tags: map[string]string{"Owner": "maya"}},
		{Service: "ec2", Type: "vpc", Account: "999999999999", Tags: map[string]string{owned: "owned"}},
	} {
		c.plant(t, r)
	}
	require.Empty(t, names(all(t, c.client, home)))
}

func TestUntaggedLeftoversOfTheInstallerAndCcoctlAreSeenByTheirNames(t *testing.T) {
	c := start(t, aws.Config{})
	for _, r := range []aws.Resource{
		{Service: "iam", Type: "role", Name: infraID + "-worker-role"},
		{Service: "iam", Type: "role", Name: "shop-ab12cd34ef-openshift-image-registry-installer-cloud-credentials"},
		{Service: "iam", Type: "instance-profile", Name: infraID + "-bootstrap-profile"},
		{Service: "iam", Type: "instance-profile", Name: "renamed", Uses: []string{"role/" + infraID + "-worker-role"}},
		{Service: "iam", Type: "user", Name: infraID + "-openshift-ingress-abcde"},
		{Service: "iam", Type: "oidc-provider", Name: "shop-ab12cd34ef-oidc.s3.us-east-1.amazonaws.com"},
		{Service: "s3", Type: "bucket", Name: "openshift-bootstrap-data-" + infraID},
		{Service: "s3", Type: "bucket", Name: infraID + "-image-registry-us-east-1-abcdefg"},
		{Service: "s3", Type: "bucket", Name: "shop-ab12cd34ef-oidc"},
		{Service: "ec2", Type: "security-group", Name: infraID + "-controlplane", Attrs: map[string]string{"group-name": infraID + "-controlplane"}},
		{ID: "arn:aws:elasticloadbalancing:us-east-1:123456789012:targetgroup/" + infraID + "-aint/1", Service: "elasticloadbalancing", Type: "targetgroup", Name: infraID + "-aint"},
		{Service: "route53", Type: "hostedzone", ID: "Z1", Name: "shop.labs.example.com.", Attrs: map[string]string{"private": "true"}},
		{Service: "route53", Type: "hostedzone", ID: "Z2", Name: "shop.old.example.com.",
			Attrs: map[string]string{"private": "true", "comment": "Created by Openshift Installer", "reference": infraID + "-b7k2z"}},
	} {
		c.plant(t, r)
	}
	seen := all(t, c.client, home)
	require.ElementsMatch(t, []string{
		"role " + infraID + "-worker-role", "role shop-ab12cd34ef-openshift-image-registry-installer-cloud-credentials",
		"instance-profile " + infraID + "-bootstrap-profile", "instance-profile renamed", "user " + infraID + "-openshift-ingress-abcde",
		"oidc-provider shop-ab12cd34ef-oidc.s3.us-east-1.amazonaws.com",
		"bucket openshift-bootstrap-data-" + infraID, "bucket " + infraID + "-image-registry-us-east-1-abcdefg", "bucket shop-ab12cd34ef-oidc",
		"security-group " + infraID + "-controlplane", "target-group " + infraID + "-aint", "hosted-zone shop.labs.example.com", "hosted-zone shop.old.example.com",
	}, names(seen))
	require.Equal(t, "private "+infraID+"-b7k2z", seen["arn:aws:route53:::hostedzone/Z2"].Detail, "nothing else says who made it")
}

func TestRecordsOfClustersAreToldFromOtherRecordsByTheirExactNames(t *testing.T) {
	c := start(t, aws.Config{})
	zone := ""
	for _, r := range c.All() {
		if r.Type == "hostedzone" {
			zone = r.ID
		}
	}
	for name, typ := range map[string]string{
		"api.shop.labs.example.com.": "A", "api-int.shop.labs.example.com.": "A", `\052.apps.shop.labs.example.com.`: "CNAME",
		"www.labs.example.com.": "A", "api.labs.example.com.": "A", "api.a.b.labs.example.com.": "A", "x.apps.shop.labs.example.com.": "A",
		"api.txt.labs.example.com.": "TXT",
	} {
		c.plant(t, aws.Resource{Service: "route53", Type: "record", ID: name + typ, Name: name, Parent: zone, Attrs: map[string]string{"type": typ, "ttl": "60"}, Values: map[string][]string{"values": {"192.0.2.1"}}})
	}
	seen := must(t, c.client, "global/route53")
	require.ElementsMatch(t, []string{"record api.shop.labs.example.com", "record api-int.shop.labs.example.com", `record \052.apps.shop.labs.example.com`}, names(seen))
	s := seen["record/"+zone+"/api.shop.labs.example.com/A"]
	require.Equal(t, "arn:aws:route53:::hostedzone/"+zone, s.Within)
}

// What is in a bucket has a price, so it is counted in whole GiB.
func TestABucketHasTheSizeOfItsContent(t *testing.T) {
	c := start(t, aws.Config{})
	for name, bytes := range map[string]string{"full-oidc": "3221225473", "empty-oidc": ""} {
		c.plant(t, aws.Resource{Service: "s3", Type: "bucket", Name: name, Attrs: map[string]string{"bytes": bytes}})
	}
	seen := all(t, c.client, home)
	require.Equal(t, "4", seen["arn:aws:s3:::full-oidc"].Detail)
	require.Empty(t, seen["arn:aws:s3:::empty-oidc"].Detail)
	c.Refuse("s3:ListBucket", -1, aws.Denied)
	seen = all(t, c.client, home)
	require.Empty(t, seen["arn:aws:s3:::full-oidc"].Detail, "it is there, whatever is in it")
	require.Len(t, seen, 2)
}

func TestWhatOnlyTheTaggingAPIKnowsIsReportedAndItsTombstonesOfOtherThingsAreNot(t *testing.T) {
	c := start(t, aws.Config{})
	c.plant(t, aws.Resource{ID: "arn:aws:rds:us-east-1:123456789012:db:" + infraID + "-orders", Tags: map[string]string{owned: "owned"}})
	c.plant(t, aws.Resource{Service: "s3", Type: "bucket", Name: "reports", Tags: map[string]string{"ClusterId": "clu_1"}})
	volume := c.plant(t, aws.Resource{Service: "ec2", Type: "volume", Tags: map[string]string{owned: "owned"}})
	require.NoError(t, c.Free(volume))
	seen := all(t, c.client, home)
	require.ElementsMatch(t, []string{"tagged-resource " + infraID + "-orders", "bucket reports"}, names(seen))
	require.Equal(t, "rds db", seen["arn:aws:rds:us-east-1:123456789012:db:"+infraID+"-orders"].Detail)
}

// The role of a scan may do exactly what a scan does: a missing action makes parts incomplete, and an unused one is too much.
func TestTheScansPolicyNamesExactlyTheCallsThatAreMade(t *testing.T) {
	const reader, readerKey = "arn:aws:sts::" + account + ":assumed-role/ocpctl-runner-scan/scan", "AKIADEMO0000SCANNER1"
	values := policies.Values{"partition": {"aws"}}
	policy, err := policies.Union(values, policies.Scan()...)
	require.NoError(t, err)
	c := start(t, aws.Config{Callers: []aws.Caller{{AccessKey: readerKey, SecretKey: secretKey, ARN: reader, Policy: policy}}})
	for _, r := range []aws.Resource{
		{Service: "iam", Type: "instance-profile", Name: infraID + "-worker-profile"}, {Service: "iam", Type: "oidc-provider", Name: "shop-oidc.s3.us-east-1.amazonaws.com"},
		{Service: "s3", Type: "bucket", Name: "shop-oidc"}, {Service: "s3", Type: "bucket", Name: "openshift-bootstrap-data-" + infraID},
		{Service: "s3", Type: "bucket", Name: infraID + "-image-registry-us-east-1-abc"},
		{ID: "arn:aws:elasticloadbalancing:us-east-1:123456789012:loadbalancer/net/" + infraID + "-int/1", Name: infraID + "-int"},
		{ID: "arn:aws:rds:us-east-1:123456789012:db:" + infraID, Tags: map[string]string{owned: "owned"}},
	} {
		c.plant(t, r)
	}
	options := []func(*config.LoadOptions) error{config.WithBaseEndpoint(c.URL()), config.WithCredentialsProvider(credentials.NewStaticCredentialsProvider(readerKey, secretKey, ""))}
	client := clientOf(t, options...)
	regions, err := client.Regions(t.Context())
	require.NoError(t, err)
	require.Len(t, all(t, client, regions...), 7)
	meter, err := runneraws.New(t.Context(), home, options...)
	require.NoError(t, err)
	for range 2 {
		quotas, err := meter.Quotas(t.Context(), runnercloud.Target{Region: home}, runnercloud.Plan{Zones: []string{"us-east-1a"}, Machines: []runnercloud.Machines{{Type: "m6i.xlarge", Lasting: 3}}})
		require.NoError(t, err)
		for _, q := range quotas {
			require.Empty(t, q.Unknown, q.Name)
		}
		c.Refuse("servicequotas:GetServiceQuota", -1, "NoSuchResourceException") // then the default is asked for
	}
	document, err := iampolicy.Parse(policy)
	require.NoError(t, err)
	var allowed []string
	for _, s := range document.Statement {
		allowed = append(allowed, s.Action...)
	}
	require.ElementsMatch(t, allowed, c.ActionsOf(reader))
}
