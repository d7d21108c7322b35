package ibmcloud_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/IBM/go-sdk-core/v5/core"
	"github.com/IBM/networking-go-sdk/dnsrecordsv1"
	"github.com/IBM/networking-go-sdk/dnssvcsv1"
	"github.com/IBM/networking-go-sdk/zonesv1"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/ibmcloud"
)

// standing finds a resource of the initial world.
func (c *cloud) standing(t *testing.T, service, typ string) ibmcloud.Resource {
	t.Helper()
	all := c.All()
	i := slices.IndexFunc(all, func(r ibmcloud.Resource) bool { return r.Service == service && r.Type == typ && r.Stands })
	require.GreaterOrEqual(t, i, 0)
	return all[i]
}

func TestRecordsOfInternetServicesHavePagesOfTwenty(t *testing.T) {
	c := start(t, ibmcloud.Config{Callers: []ibmcloud.Caller{{APIKey: "other", Account: "ffffffffffffffffffffffffffffffff"}}})
	ctx := t.Context()
	instance := c.standing(t, "internet-svcs", "instance")
	crn := instance.CRN()
	zones, err := zonesv1.NewZonesV1(&zonesv1.ZonesV1Options{Authenticator: c.keyed(key), URL: c.URL("cis", ""), Crn: &crn})
	require.NoError(t, err)
	all, _, err := zones.ListZonesWithContext(ctx, &zonesv1.ListZonesOptions{})
	require.NoError(t, err)
	require.Equal(t, "labs.example.com", *all.Result[0].Name)
	records, err := dnsrecordsv1.NewDnsRecordsV1(&dnsrecordsv1.DnsRecordsV1Options{Authenticator: c.keyed(key), URL: c.URL("cis", ""), Crn: &crn, ZoneIdentifier: all.Result[0].ID})
	require.NoError(t, err)
	create := func(name string) (*dnsrecordsv1.DnsrecordResp, *core.DetailedResponse, error) {
		return records.CreateDnsRecordWithContext(ctx, &dnsrecordsv1.CreateDnsRecordOptions{Name: &name, Type: new("CNAME"), Content: new("1-us-east.lb.appdomain.cloud")})
	}
	for i := range 22 {
		_, _, err := create(fmt.Sprintf("api.demo-%d.labs.example.com", i))
		require.NoError(t, err)
	}
	_, resp, err := create("api.demo-1.labs.example.com")
	require.InDelta(t, 81053, status(t, http.StatusBadRequest, resp, err)["errors"].([]any)[0].(map[string]any)["code"], 0)
	page, _, err := records.ListAllDnsRecordsWithContext(ctx, &dnsrecordsv1.ListAllDnsRecordsOptions{Page: new(int64(2))})
	require.NoError(t, err)
	require.Len(t, page.Result, 2)
	require.EqualValues(t, 2, *page.ResultInfo.Count, "of the page")
	require.EqualValues(t, 22, *page.ResultInfo.TotalCount)
	named, _, err := records.ListAllDnsRecordsWithContext(ctx, &dnsrecordsv1.ListAllDnsRecordsOptions{Name: new("api.demo-21.labs.example.com")})
	require.NoError(t, err)
	_, _, err = records.DeleteDnsRecordWithContext(ctx, &dnsrecordsv1.DeleteDnsRecordOptions{DnsrecordIdentifier: named.Result[0].ID})
	require.NoError(t, err)
	_, resp, err = records.DeleteDnsRecordWithContext(ctx, &dnsrecordsv1.DeleteDnsRecordOptions{DnsrecordIdentifier: named.Result[0].ID})
	status(t, http.StatusNotFound, resp, err)

	zones.Service.Options.Authenticator = c.keyed("other")
	_, resp, err = zones.ListZonesWithContext(ctx, &zonesv1.ListZonesOptions{})
	status(t, http.StatusForbidden, resp, err)
}

func TestAPermittedNetworkStaysWhenItsVPCGoes(t *testing.T) {
	c := start(t, ibmcloud.Config{})
	ctx := t.Context()
	instance := c.standing(t, "dns-svcs", "instance").ID
	zones, _, err := c.dns.ListDnszonesWithContext(ctx, &dnssvcsv1.ListDnszonesOptions{InstanceID: &instance})
	require.NoError(t, err)
	require.Equal(t, "PENDING_NETWORK_ADD", *zones.Dnszones[0].State)
	zone := zones.Dnszones[0].ID
	vpc, err := c.Plant(ibmcloud.Resource{Service: "is", Type: "vpc", Name: "demo-vpc"})
	require.NoError(t, err)
	network, _, err := c.dns.CreatePermittedNetworkWithContext(ctx, &dnssvcsv1.CreatePermittedNetworkOptions{
		InstanceID: &instance, DnszoneID: zone, Type: new("vpc"), PermittedNetwork: &dnssvcsv1.PermittedNetworkVpc{VpcCrn: new(vpc.CRN())},
	})
	require.NoError(t, err)
	record, _, err := c.dns.CreateResourceRecordWithContext(ctx, &dnssvcsv1.CreateResourceRecordOptions{
		InstanceID: &instance, DnszoneID: zone, Type: new("CNAME"), Name: new("api.demo"), TTL: new(int64(60)), Rdata: &dnssvcsv1.ResourceRecordInputRdataRdataCnameRecord{Cname: new("lb.example.com")},
	})
	require.NoError(t, err)
	require.Equal(t, "api.demo.internal.example.com", *record.Name)
	require.NoError(t, c.Free(vpc.ID))
	networks, _, err := c.dns.ListPermittedNetworksWithContext(ctx, &dnssvcsv1.ListPermittedNetworksOptions{InstanceID: &instance, DnszoneID: zone})
	require.NoError(t, err)
	require.Equal(t, vpc.CRN(), *networks.PermittedNetworks[0].PermittedNetwork.VpcCrn)
	removed, _, err := c.dns.DeletePermittedNetworkWithContext(ctx, &dnssvcsv1.DeletePermittedNetworkOptions{InstanceID: &instance, DnszoneID: zone, PermittedNetworkID: network.ID})
	require.NoError(t, err)
	require.Equal(t, "REMOVAL_IN_PROGRESS", *removed.State)
	_, err = c.dns.DeleteResourceRecordWithContext(ctx, &dnssvcsv1.DeleteResourceRecordOptions{InstanceID: &instance, DnszoneID: zone, RecordID: record.ID})
	require.NoError(t, err)
	c.wait()
	require.Empty(t, c.Resources(""))
}

// bearer lets an S3 client use IAM's tokens.
type bearer struct{ auth core.Authenticator }

func (b bearer) Do(r *http.Request) (*http.Response, error) {
	if err := b.auth.Authenticate(r); err != nil {
		return nil, err
	}
	return http.DefaultClient.Do(r)
}

func (c *cloud) s3(region string) *s3.Client {
	endpoint := c.URL("cos", region)
	return s3.New(s3.Options{
		Region: region, BaseEndpoint: &endpoint, UsePathStyle: true, Credentials: aws.AnonymousCredentials{}, HTTPClient: bearer{c.auth},
		RequestChecksumCalculation: aws.RequestChecksumCalculationWhenRequired, ResponseChecksumValidation: aws.ResponseChecksumValidationWhenRequired,
	})
}

func TestBucketsBelongToAnInstanceAndTheirNamesToEverybody(t *testing.T) {
	c := start(t, ibmcloud.Config{})
	ctx := t.Context()
	first, err := c.Plant(ibmcloud.Resource{Service: "cloud-object-storage", Type: "instance", Name: "demo-cos"})
	require.NoError(t, err)
	second, err := c.Plant(ibmcloud.Resource{Service: "cloud-object-storage", Type: "instance", Name: "other-cos"})
	require.NoError(t, err)
	in := func(guid string) func(*s3.Options) {
		return s3.WithAPIOptions(smithyhttp.AddHeaderValue("ibm-service-instance-id", guid))
	}
	code := func(err error) string {
		var api smithy.APIError
		require.ErrorAs(t, err, &api)
		return api.ErrorCode()
	}
	east := c.s3(region)
	bucket := new("demo-x1y2z-vsi-image")
	create := &s3.CreateBucketInput{Bucket: bucket, CreateBucketConfiguration: &types.CreateBucketConfiguration{LocationConstraint: types.BucketLocationConstraint(region + "-smart")}}
	_, err = east.CreateBucket(ctx, create)
	require.Equal(t, "AccessDenied", code(err), "without an instance")
	_, err = east.CreateBucket(ctx, create, in(first.ID))
	require.NoError(t, err)
	_, err = east.CreateBucket(ctx, create, in(second.CRN()))
	require.Equal(t, "BucketAlreadyExists", code(err))
	_, err = east.PutObject(ctx, &s3.PutObjectInput{Bucket: bucket, Key: new("images/rhcos.qcow2"), Body: strings.NewReader("an image")})
	require.NoError(t, err)
	buckets, err := east.ListBuckets(ctx, &s3.ListBucketsInput{}, in(first.ID))
	require.NoError(t, err)
	require.Len(t, buckets.Buckets, 1)
	buckets, err = east.ListBuckets(ctx, &s3.ListBucketsInput{}, in(second.ID))
	require.NoError(t, err)
	require.Empty(t, buckets.Buckets)
	_, err = c.s3("eu-de").DeleteBucket(ctx, &s3.DeleteBucketInput{Bucket: bucket})
	require.Equal(t, "NoSuchBucket", code(err), "in another region")
	_, err = east.DeleteBucket(ctx, &s3.DeleteBucketInput{Bucket: bucket})
	require.Equal(t, "BucketNotEmpty", code(err))
	_, err = east.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: bucket, Key: new("images/rhcos.qcow2")})
	require.NoError(t, err)
	_, err = east.DeleteBucket(ctx, &s3.DeleteBucketInput{Bucket: bucket})
	require.NoError(t, err)
}
