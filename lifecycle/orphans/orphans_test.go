package orphans

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/internal/names"
	"github.com/ocpctl/ocpctl/internal/tagkey"
	"github.com/ocpctl/ocpctl/lifecycle"
)

func seen(kind, id, name, within string, tags ...string) Resource {
	r := Resource{SeenResource: contract.SeenResource{ID: id, Type: kind, Name: name, Within: within}, SeenAt: epoch, Sights: 1, Fresh: true}
	for _, tag := range tags {
		key, value, _ := strings.Cut(tag, "=")
		if r.Tags == nil {
			r.Tags = map[string]string{}
		}
		r.Tags[key] = value
	}
	return r
}

const (
	mark      = tagkey.KubernetesCluster + "shop-abcde=owned"
	otherMark = tagkey.KubernetesCluster + "bank-fghij=owned"
)

func TestAResourceBelongsToWhoseSignItHas(t *testing.T) {
	full := []string{"InstallationId=here", "ClusterId=clu_1", "ManagedBy=" + tagkey.ControlPlaneName, mark}
	own := names.Scope{Installation: "here", Cluster: "clu_1", Attempt: 2, Name: "shop"}.CCOName()
	for name, c := range map[string]struct {
		resources []Resource
		groups    []string // installation|cluster|identity|place: ids
	}{
		"tags": {[]Resource{seen("vpc", "vpc-1", "", "", full...)}, []string{"here|clu_1|shop-abcde|: vpc-1"}},
		"a shared mark is nobody's": {[]Resource{seen("subnet", "subnet-1", "", "", tagkey.KubernetesCluster+"shop-abcde=shared")},
			[]string{"|||subnet-1: subnet-1"}},
		"a mark alone joins the only cluster that has it": {[]Resource{seen("vpc", "vpc-1", "", "", full...), seen("subnet", "subnet-1", "", "", mark)},
			[]string{"here|clu_1|shop-abcde|: subnet-1 vpc-1"}},
		"a mark that two clusters have joins neither": {[]Resource{seen("vpc", "vpc-1", "", "", full...), seen("vpc", "vpc-2", "", "", "InstallationId=there", "ClusterId=clu_9", mark), seen("subnet", "subnet-1", "", "", mark)},
			[]string{"||shop-abcde|: subnet-1", "here|clu_1|shop-abcde|: vpc-1", "there|clu_9|shop-abcde|: vpc-2"}},
		"another installation's tag does not join": {[]Resource{seen("vpc", "vpc-1", "", "", full...), seen("volume", "vol-1", "", "", "InstallationId=there", mark)},
			[]string{"here|clu_1|shop-abcde|: vpc-1", "there||shop-abcde|: vol-1"}},
		"the marks of two clusters": {[]Resource{seen("subnet", "subnet-1", "", "", mark, otherMark)}, []string{"||bank-fghij,shop-abcde|: subnet-1"}},
		"a name": {[]Resource{seen("vpc", "vpc-1", "", "", full...), seen("role", "role/shop-abcde-master-role", "shop-abcde-master-role", "")},
			[]string{"here|clu_1|shop-abcde|: role/shop-abcde-master-role vpc-1"}},
		"the bucket of a bootstrap": {[]Resource{seen("vpc", "vpc-1", "", "", full...), seen("bucket", "bucket/b", bucketPrefix+"shop-abcde", "")},
			[]string{"here|clu_1|shop-abcde|: bucket/b vpc-1"}},
		"names on IBM Cloud": {[]Resource{
			seen("user-tag", "user-tag/shop-abcde", "shop-abcde", "", mark, "ClusterId=clu_1"), seen("vpc", "crn:vpc", "shop-abcde-vpc", "crn:group"), seen("instance", "crn:worker", "shop-abcde-worker-1-x7k2p", "crn:vpc"),
			seen("load-balancer", "crn:lb", "kube-shop-abcde-0123456789abcdef0123456789abcdef", ""), seen("image", "crn:image", "shop-abcde-rhcos", ""),
			seen("load-balancer", "crn:other", "kube-shop-abcde-fghij-0123456789abcdef", "")},
			[]string{"|clu_1|shop-abcde|: crn:image crn:lb crn:vpc crn:worker user-tag/shop-abcde", "|||shop-abcde-fghij: crn:other"}},
		"what is in a group that was recorded": {[]Resource{seen("resource-group", "crn:group", "shop-1234567890", ""), seen("volume", "crn:pvc", "pvc-1", "crn:group"), seen("service-id", "crn:id", "shop-1234567890-openshift-ingress-operator-cloud-credentials", "")},
			[]string{"||shop-1234567890|: crn:group crn:id crn:pvc"}},
		"a group of one cluster that was not recorded": {[]Resource{seen("resource-group", "crn:group", own, ""), seen("vpc", "vpc-1", "shop-abcde-vpc", "crn:group", full...), seen("volume", "crn:pvc", "pvc-1", "crn:group")},
			[]string{"here|clu_1|shop-abcde|: crn:group crn:pvc vpc-1"}},
		"a group of somebody else that one cluster has something in": {[]Resource{seen("resource-group", "crn:group", "shop-production", ""), seen("db", "db-1", "", "crn:group", full...), seen("vpc", "vpc-1", "", "crn:group")},
			[]string{"|||crn:group: crn:group vpc-1", "here|clu_1|shop-abcde|: db-1"}},
		"a group of two clusters": {[]Resource{seen("resource-group", "crn:group", own, ""), seen("vpc", "vpc-1", "", "crn:group", full...), seen("vpc", "vpc-2", "", "crn:group", "ClusterId=clu_2")},
			[]string{"|||crn:group: crn:group", "here|clu_1|shop-abcde|: vpc-1", "|clu_2||: vpc-2"}},
		"names on IBM Cloud under a VPC with tags": {[]Resource{seen("vpc", "vpc-1", "shop-abcde-vpc", "", full...), seen("image", "image-1", "shop-abcde-rhcos", ""), seen("public-gateway", "pgw-1", "shop-abcde-pgateway-us-south-1", ""),
			seen("load-balancer", "lb-1", "kube-shop-abcde-0a1b2c3d4e5f", ""), seen("load-balancer", "lb-2", "kube-shop-abcdef-0a1b2c3d4e5f", ""), seen("service-instance", "cos-1", "shop-abcde-cos", "")},
			[]string{"|||lb-2: lb-2", "here|clu_1|shop-abcde|: cos-1 image-1 lb-1 pgw-1 vpc-1"}},
		"a name that merely begins alike": {[]Resource{seen("vpc", "vpc-1", "", "", full...), seen("role", "role/r", "shop-abcde-fghij-master-role", ""), seen("role", "role/s", "shop-abcdefg", "")},
			[]string{"|||role/s: role/s", "|||shop-abcde-fghij: role/r", "here|clu_1|shop-abcde|: vpc-1"}},
		"a cluster whose name begins with what follows another's": {[]Resource{seen("vpc", "vpc-1", "", "", full...), seen("bucket", "bucket/b", "shop-abcde-master-zzzzz-bootstrap", "")},
			[]string{"|||shop-abcde-master-zzzzz: bucket/b", "here|clu_1|shop-abcde|: vpc-1"}},
		"a place": {[]Resource{seen("vpc", "arn:aws:ec2:us-east-1:1:vpc/vpc-1", "", "", full...), seen("network-interface", "eni-1", "", "vpc-1")},
			[]string{"here|clu_1|shop-abcde|: arn:aws:ec2:us-east-1:1:vpc/vpc-1 eni-1"}},
		"a place of nobody": {[]Resource{seen("vpc", "vpc-1", "", ""), seen("network-interface", "eni-1", "", "vpc-1"), seen("security-group", "sg-1", "", "vpc-9")},
			[]string{"|||vpc-1: eni-1 vpc-1", "|||vpc-9: sg-1"}},
		"places that are in each other": {[]Resource{seen("zone", "a", "", "b"), seen("zone", "b", "", "a")}, []string{"|||a: a b"}},
		"a tag outweighs a name and a place": {[]Resource{seen("vpc", "vpc-1", "", "", full...), seen("instance", "i-1", "shop-abcde-master-0", "vpc-1", "ClusterId=clu_2")},
			[]string{"here|clu_1|shop-abcde|: vpc-1", "|clu_2||: i-1"}},
		"records of a domain": {[]Resource{seen("record", "record/1", "api.shop.labs.example.com.", "zone/Z1"), seen("record", "record/2", `\052.apps.shop.labs.example.com.`, "zone/Z1"), seen("record", "record/3", "api.shop.elsewhere.example.com.", "zone/Z2")},
			[]string{"|||shop.labs.example.com: record/1 record/2", "|||zone/Z2: record/3"}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, g := range Groups(Account{BaseDomains: []string{"labs.example.com"}, Names: map[string]bool{"shop-1234567890": true}}, c.resources) {
				got = append(got, g.Installation+"|"+g.Cluster+"|"+g.Identity+"|"+g.Place+": "+strings.Join(g.Resources, " "))
			}
			slices.Sort(got)
			slices.Sort(c.groups)
			require.Equal(t, c.groups, got)
		})
	}
}

func TestARecordedNameCountsWithoutATagThatTellsIt(t *testing.T) {
	lone := []Resource{seen("bucket", "bucket/b", "shop-1234567890-oidc", "")}
	require.Contains(t, Candidates(lone), "shop-1234567890")
	require.Equal(t, "shop-1234567890", Groups(Account{Names: map[string]bool{"shop-1234567890": true}}, lone)[0].Identity)
	require.Empty(t, Groups(Account{}, lone)[0].Identity)
}

// cents prices instances by their kind.
type cents map[string]float64

func (c cents) Resource(kind, _, detail string, stopped bool) (float64, bool) {
	price, known := c[kind+" "+detail]
	if stopped {
		price = 0
	}
	return price, known
}

func TestAGroupSumsUpItsResources(t *testing.T) {
	machine := seen("instance", "i-1", "", "", "InstallationId=here", "ClusterId=clu_1", "ManagedBy="+tagkey.ControlPlaneName, "Owner=maya", "Team=platform", "ClusterName=shop")
	machine.Detail, machine.Region, machine.Sights, machine.TaggedLater = "m6i.xlarge", "us-east-2", 4, true
	stopped := machine
	stopped.ID, stopped.Stopped, stopped.Fresh, stopped.Sights = "i-2", true, false, 0
	odd := seen("thing", "t-1", "", "", "InstallationId=here", "ClusterId=clu_1")
	odd.TaggedLater = true
	record := seen("record", "z-1", "", "", "InstallationId=here", "ClusterId=clu_1") // no runner tags it
	group := func(prices Prices, rules []Rule, list ...Resource) lifecycle.Group {
		groups := Groups(Account{Platform: "aws", ID: "123456789012", Prices: prices, Exempt: rules}, list)
		require.Len(t, groups, 1)
		return groups[0]
	}
	g := group(cents{"instance m6i.xlarge": 19.2}, nil, machine, stopped, odd, record)
	require.Len(t, g.Parts, 4)
	require.Equal(t, lifecycle.Part{ID: "i-1", Region: "us-east-2", SeenAt: epoch, HourlyCents: new(19.2), Sights: 4, Fresh: true}, g.Parts[0])
	g.Parts = nil
	require.Equal(t, lifecycle.Group{
		Platform: "aws", Account: "123456789012", Regions: []string{"us-east-2"}, Installation: "here", Cluster: "clu_1", Name: "shop", Owner: "maya", Team: "platform",
		Resources: []string{"i-1", "i-2", "t-1", "z-1"}, HourlyCents: new(19.2), Unpriced: 2, Sights: 4, Fresh: true, Untagged: []string{"t-1"},
	}, g)
	others := seen("instance", "i-3", "", "", "InstallationId=here", "ClusterId=clu_1", "Owner=rob", "Team=platform")
	for _, list := range [][]Resource{{machine, odd, others, machine}, {others, machine, odd}} {
		g = group(nil, nil, list...)
		require.Empty(t, g.Owner, "nobody is asked for what others own")
		require.True(t, g.Owners)
		require.Equal(t, "platform", g.Team)
		require.Equal(t, "shop", g.Name)
	}
	require.True(t, group(nil, nil, machine).Managed)
	require.Nil(t, group(nil, nil, machine).HourlyCents, "an unknown price is not zero")

	for name, c := range map[string]struct {
		rule   Rule
		exempt bool
	}{
		"account":              {Rule{Account: "1234*"}, true},
		"another account":      {Rule{Account: "9*"}, false},
		"tag":                  {Rule{TagKey: "Owner"}, true},
		"another tag":          {Rule{TagKey: "Keep"}, false},
		"a tag in one account": {Rule{TagKey: "Owner", Account: "9*"}, false},
		"name":                 {Rule{Name: "shop*"}, false},
		"a rule of nothing":    {Rule{Why: "everything"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.exempt, group(nil, []Rule{c.rule}, machine).Exempt != "")
		})
	}
}
