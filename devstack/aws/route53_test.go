package aws_test

import (
	"fmt"
	"testing"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/route53"
	"github.com/aws/aws-sdk-go-v2/service/route53/types"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/aws"
)

func (c *cloud) base(t *testing.T) *string {
	t.Helper()
	out, err := c.route53.ListHostedZonesByName(t.Context(), &route53.ListHostedZonesByNameInput{DNSName: sdk.String("labs.example.com")})
	require.NoError(t, err)
	require.NotEmpty(t, out.HostedZones)
	require.Equal(t, "labs.example.com.", *out.HostedZones[0].Name)
	return out.HostedZones[0].Id
}

func (c *cloud) records(t *testing.T, zone *string) []types.ResourceRecordSet {
	t.Helper()
	var all []types.ResourceRecordSet
	for p := route53.NewListResourceRecordSetsPaginator(c.route53, &route53.ListResourceRecordSetsInput{HostedZoneId: zone}); p.HasMorePages(); {
		page, err := p.NextPage(t.Context())
		require.NoError(t, err)
		all = append(all, page.ResourceRecordSets...)
	}
	return all
}

func (c *cloud) change(t *testing.T, zone *string, action types.ChangeAction, sets ...types.ResourceRecordSet) error {
	t.Helper()
	batch := &types.ChangeBatch{}
	for _, s := range sets {
		batch.Changes = append(batch.Changes, types.Change{Action: action, ResourceRecordSet: &s})
	}
	out, err := c.route53.ChangeResourceRecordSets(t.Context(), &route53.ChangeResourceRecordSetsInput{HostedZoneId: zone, ChangeBatch: batch})
	if err == nil {
		require.Equal(t, types.ChangeStatusInsync, out.ChangeInfo.Status)
	}
	return err
}

func alias(name string) types.ResourceRecordSet {
	return types.ResourceRecordSet{Name: &name, Type: "A", AliasTarget: &types.AliasTarget{DNSName: sdk.String(infra + "-ext-1.elb.us-east-1.amazonaws.com"), HostedZoneId: sdk.String("Z26RNL4JYFTOTI")}}
}

func text(name, value string) types.ResourceRecordSet {
	return types.ResourceRecordSet{Name: &name, Type: "TXT", TTL: sdk.Int64(60), ResourceRecords: []types.ResourceRecord{{Value: &value}}}
}

func TestTheBaseDomainIsThereFromTheStart(t *testing.T) {
	c := start(t, aws.Config{})
	zone := c.base(t)
	sets := c.records(t, zone)
	require.Len(t, sets, 2)
	require.Equal(t, types.RRTypeNs, sets[0].Type)
	require.Equal(t, types.RRTypeSoa, sets[1].Type)
	got, err := c.route53.GetHostedZone(t.Context(), &route53.GetHostedZoneInput{Id: zone})
	require.NoError(t, err)
	require.Len(t, got.DelegationSet.NameServers, 4)
	require.Empty(t, c.Resources(""), "it never counts as left over")
	require.Empty(t, c.Resources("labs.example.com"))
}

func TestRecordsChangeAllOrNothing(t *testing.T) {
	c := start(t, aws.Config{})
	zone := c.base(t)
	require.NoError(t, c.change(t, zone, "CREATE", alias("api.demo.labs.example.com"), alias("*.apps.demo.labs.example.com."), text("a.labs.example.com", `"x"`)))
	names := []string{}
	for _, s := range c.records(t, zone) {
		names = append(names, *s.Name+" "+string(s.Type))
	}
	require.Equal(t, []string{"labs.example.com. NS", "labs.example.com. SOA", "a.labs.example.com. TXT", "api.demo.labs.example.com. A", `\052.apps.demo.labs.example.com. A`}, names)

	err := c.change(t, zone, "CREATE", text("b.labs.example.com", `"y"`), alias("api.demo.labs.example.com"))
	var batch *types.InvalidChangeBatch
	require.ErrorAs(t, err, &batch)
	require.Contains(t, batch.Messages[0], "it already exists")
	require.Len(t, c.records(t, zone), 5, "nothing of a refused batch is done")
	require.ErrorAs(t, c.change(t, zone, "DELETE", text("a.labs.example.com", `"other"`)), &batch)
	require.Contains(t, batch.Messages[0], "do not match the current values")
	require.ErrorAs(t, c.change(t, zone, "DELETE", text("none.labs.example.com", `"x"`)), &batch)
	require.Contains(t, batch.Messages[0], "not found")
	require.ErrorAs(t, c.change(t, zone, "CREATE", text("a.example.org", `"x"`)), &batch)
	require.Contains(t, batch.Messages[0], "not permitted in zone")

	require.Len(t, c.Resources(infra), 2, "a record that points to the cluster's load balancer is the cluster's")
	require.NoError(t, c.change(t, zone, "UPSERT", text("a.labs.example.com", `"other"`)))
	require.NoError(t, c.change(t, zone, "DELETE", text("a.labs.example.com", `"other"`), alias(`\052.apps.demo.labs.example.com.`), alias("api.demo.labs.example.com.")))
	require.Len(t, c.records(t, zone), 2)
}

func TestRecordListsAreCut(t *testing.T) {
	c := start(t, aws.Config{})
	zone := c.base(t)
	sets := []types.ResourceRecordSet{}
	for i := range 310 {
		sets = append(sets, text(fmt.Sprintf("n%03d.labs.example.com", i), `"x"`))
	}
	require.NoError(t, c.change(t, zone, "CREATE", sets...))
	first, err := c.route53.ListResourceRecordSets(t.Context(), &route53.ListResourceRecordSetsInput{HostedZoneId: zone})
	require.NoError(t, err)
	require.True(t, first.IsTruncated)
	require.Len(t, first.ResourceRecordSets, 300)
	require.Equal(t, "n298.labs.example.com.", *first.NextRecordName)
	require.Len(t, c.records(t, zone), 312)
	from, err := c.route53.ListResourceRecordSets(t.Context(), &route53.ListResourceRecordSetsInput{HostedZoneId: zone, StartRecordName: sdk.String("n305.labs.example.com"), StartRecordType: "TXT"})
	require.NoError(t, err)
	require.Len(t, from.ResourceRecordSets, 5)
}

func TestPrivateZones(t *testing.T) {
	c := start(t, aws.Config{})
	ctx := t.Context()
	in := &route53.CreateHostedZoneInput{Name: sdk.String("demo.labs.example.com"), CallerReference: sdk.String(infra + "-x7k2p"),
		HostedZoneConfig: &types.HostedZoneConfig{Comment: sdk.String("Created by Openshift Installer"), PrivateZone: true},
		VPC:              &types.VPC{VPCId: sdk.String("vpc-0"), VPCRegion: "us-east-1"}}
	_, err := c.route53.CreateHostedZone(ctx, in)
	refused(t, err, "InvalidVPCId")
	in.VPC.VPCId = sdk.String(c.vpc(t))
	made, err := c.route53.CreateHostedZone(ctx, in)
	require.NoError(t, err)
	zone := made.HostedZone.Id
	change, err := c.route53.GetChange(ctx, &route53.GetChangeInput{Id: made.ChangeInfo.Id})
	require.NoError(t, err)
	require.Equal(t, types.ChangeStatusInsync, change.ChangeInfo.Status)
	require.Equal(t, *made.ChangeInfo.Id, *change.ChangeInfo.Id)
	_, err = c.route53.CreateHostedZone(ctx, in)
	refused(t, err, "HostedZoneAlreadyExists")
	_, err = c.route53.ChangeTagsForResource(ctx, &route53.ChangeTagsForResourceInput{ResourceType: "hostedzone", ResourceId: sdk.String((*zone)[len("/hostedzone/"):]),
		AddTags: []types.Tag{{Key: sdk.String(owned), Value: sdk.String("owned")}, {Key: sdk.String("Name"), Value: sdk.String(infra + "-int")}}})
	require.NoError(t, err)
	tags, err := c.route53.ListTagsForResource(ctx, &route53.ListTagsForResourceInput{ResourceType: "hostedzone", ResourceId: sdk.String((*zone)[len("/hostedzone/"):])})
	require.NoError(t, err)
	require.Len(t, tags.ResourceTagSet.Tags, 2)
	got, err := c.route53.GetHostedZone(ctx, &route53.GetHostedZoneInput{Id: zone})
	require.NoError(t, err)
	require.True(t, got.HostedZone.Config.PrivateZone)
	require.Equal(t, *in.VPC.VPCId, *got.VPCs[0].VPCId)
	require.Equal(t, infra+"-x7k2p", *got.HostedZone.CallerReference)

	byName, err := c.route53.ListHostedZonesByName(ctx, &route53.ListHostedZonesByNameInput{DNSName: sdk.String("a.labs.example.com")})
	require.NoError(t, err)
	require.Len(t, byName.HostedZones, 1, "the list begins at the name and goes on: it is no filter")
	pages := 0
	for p := route53.NewListHostedZonesPaginator(c.route53, &route53.ListHostedZonesInput{MaxItems: sdk.Int32(1)}); p.HasMorePages(); pages++ {
		_, err := p.NextPage(ctx)
		require.NoError(t, err)
	}
	require.Equal(t, 2, pages)

	require.NoError(t, c.change(t, zone, "CREATE", alias("api-int.demo.labs.example.com")))
	_, err = c.route53.DeleteHostedZone(ctx, &route53.DeleteHostedZoneInput{Id: zone})
	refused(t, err, "HostedZoneNotEmpty")
	require.NoError(t, c.change(t, zone, "DELETE", alias("api-int.demo.labs.example.com")))
	_, err = c.route53.DeleteHostedZone(ctx, &route53.DeleteHostedZoneInput{Id: zone})
	require.NoError(t, err)
	_, err = c.route53.GetHostedZone(ctx, &route53.GetHostedZoneInput{Id: zone})
	refused(t, err, "NoSuchHostedZone")
}
