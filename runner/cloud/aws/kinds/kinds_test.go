package kinds_test

import (
	"slices"
	"strings"
	"testing"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/stretchr/testify/require"

	standin "github.com/ocpctl/ocpctl/devstack/aws"
	"github.com/ocpctl/ocpctl/runner/cloud/aws/kinds"
)

const region, mark = "us-east-1", "kubernetes.io/cluster/shop-x7k2p"

// start starts a stand-in whose lists begin with an empty page and have few resources on each.
func start(t *testing.T) (*standin.Server, awssdk.Config) {
	t.Helper()
	server, err := standin.Start(t.Context(), standin.Config{AccessKey: "key", SecretKey: "secret"})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Stop()) })
	server.Pages(1)
	return server, awssdk.Config{Region: region, BaseEndpoint: awssdk.String(server.URL()), Credentials: credentials.NewStaticCredentialsProvider("key", "secret", "")}
}

func plant(t *testing.T, server *standin.Server, r standin.Resource) standin.Resource {
	t.Helper()
	r.Tags = map[string]string{mark: "owned", "Name": r.Name}
	planted, err := server.Plant(r)
	require.NoError(t, err)
	return planted
}

// idsOf returns the ids of resources, each of which exists and has its tag.
func idsOf(t *testing.T, found []kinds.Resource) (ids []string) {
	t.Helper()
	for _, r := range found {
		require.False(t, r.Gone || r.Ending, r.ID)
		require.Equal(t, "owned", r.Tags[mark], r.ID)
		ids = append(ids, r.ID)
	}
	return ids
}

// A kind that is not in the table is neither counted nor found in an account, and nothing else would notice it.
func TestEveryTypeOfEC2ResourceIsListedAndFoundByTagIDAndVPC(t *testing.T) {
	server, cfg := start(t)
	api := ec2.NewFromConfig(cfg)
	var listed []string
	for _, kind := range kinds.AllEC2 {
		listed = append(listed, kind.ARN)
	}
	require.ElementsMatch(t, standin.EC2Types(), listed)
	for _, kind := range kinds.AllEC2 {
		t.Run(kind.Noun, func(t *testing.T) {
			var planted []standin.Resource
			for _, name := range []string{"one", "two"} {
				vpc := plant(t, server, standin.Resource{Service: "ec2", Type: "vpc", Name: name + "-of-" + kind.ARN})
				r := vpc
				if kind.Noun != kinds.VPC.Noun {
					r = plant(t, server, standin.Resource{Service: "ec2", Type: kind.ARN, Name: name, VPC: vpc.ID, Attrs: map[string]string{"vpc-id": vpc.ID, "requester-vpc-info.vpc-id": vpc.ID}})
				}
				planted = append(planted, r)
			}
			_, id, _ := strings.Cut(planted[0].ARN(), "/")
			_, other, _ := strings.Cut(planted[1].ARN(), "/")

			var all []kinds.Resource
			before := server.Calls()["ec2:"+kind.Call].Calls
			require.NoError(t, kind.List(t.Context(), api, func(page []kinds.Resource) error {
				all = append(all, slices.DeleteFunc(page, func(r kinds.Resource) bool { return r.Tags[mark] == "" })...)
				return nil
			}))
			require.Greater(t, server.Calls()["ec2:"+kind.Call].Calls, before, "it says which call lists it")
			ids := idsOf(t, all)
			require.Subset(t, ids, []string{id, other})

			found, err := kind.Find(t.Context(), api, "tag:"+mark, []string{"owned"})
			require.NoError(t, err)
			require.ElementsMatch(t, ids, idsOf(t, found))
			found, err = kind.Find(t.Context(), api, kind.IDs, []string{id})
			require.NoError(t, err)
			require.Equal(t, []string{id}, idsOf(t, found))
			if kind.InVPC != "" {
				found, err = kind.Find(t.Context(), api, kind.InVPC, []string{planted[0].VPC})
				require.NoError(t, err)
				require.Equal(t, []string{id}, idsOf(t, found))
			}
		})
	}
}

// lesser are the lists of what belongs to a resource of the table and goes with it, and of what no cluster makes.
var lesser = []string{
	"DescribeInstanceAttribute", "DescribeLoadBalancerAttributes", "DescribeTargetHealth", "DescribeVpcAttribute", "DescribeAvailabilityZones", "DescribeInstanceTypeOfferings", "DescribeInstanceTypes", "DescribeRegions",
	"DescribeListeners", "DescribeTags",
	"ListAccessKeys", "ListAttachedRolePolicies", "ListAttachedUserPolicies", "ListInstanceProfilesForRole", "ListRolePolicies", "ListUserPolicies",
}

func TestEveryListOfTheServicesOfAClusterIsInTheTable(t *testing.T) {
	var table, known []string
	for _, kind := range kinds.AllEC2 {
		table = append(table, kind.Call)
	}
	for _, kind := range kinds.AllBalancing {
		table = append(table, kind.Call)
	}
	for _, kind := range kinds.AllIAM {
		table = append(table, kind.ListCall)
	}
	operations := standin.Operations()
	for service, all := range operations {
		if service == "ec2" || service == "iam" || strings.HasPrefix(service, "elasticloadbalancing") {
			known = append(known, slices.DeleteFunc(all, func(op string) bool { return !strings.HasPrefix(op, "Describe") && !strings.HasPrefix(op, "List") })...)
		}
	}
	slices.Sort(known)
	slices.Sort(table)
	require.ElementsMatch(t, slices.Compact(known), slices.Compact(append(table, lesser...)))
}

func TestEveryKindOfLoadBalancingIsListedWithItsTagsAndItsVPC(t *testing.T) {
	server, cfg := start(t)
	api := kinds.NewBalancingAPI(cfg, region)
	types := map[string]kinds.Balancing{"loadbalancer": kinds.LoadBalancer, "targetgroup": kinds.TargetGroup, "classic": kinds.ClassicBalancer}
	require.Len(t, kinds.AllBalancing, len(types))
	for typ, kind := range types {
		vpc := plant(t, server, standin.Resource{Service: "ec2", Type: "vpc", Name: "of-" + typ}).ID
		prefix := "arn:aws:elasticloadbalancing:us-east-1:123456789012:" + typ + "/"
		var ids []string
		for _, name := range []string{"one", "two", "three"} {
			r := plant(t, server, standin.Resource{Service: "elasticloadbalancing", Type: typ, ID: prefix + name, Name: name, VPC: vpc})
			if typ == "classic" {
				r.ID = r.Name
			}
			ids = append(ids, r.ID)
		}
		found, err := kind.Find(t.Context(), api, kinds.Which{})
		require.NoError(t, err)
		require.NoError(t, kind.AddTags(t.Context(), api, found))
		require.ElementsMatch(t, ids, idsOf(t, found), typ)
		for _, r := range found {
			require.Equal(t, []string{vpc}, r.In, typ)
		}
		found, err = kind.Find(t.Context(), api, kinds.Which{Names: []string{"two"}})
		require.NoError(t, err)
		require.Len(t, found, 1)
		require.Equal(t, "two", found[0].Name)
	}
}

func TestEveryKindOfIdentityIsListedAndGotWithItsTags(t *testing.T) {
	server, cfg := start(t)
	api := iam.NewFromConfig(cfg)
	for _, kind := range kinds.AllIAM {
		for _, name := range []string{"one.example.com", "two.example.com"} {
			r := plant(t, server, standin.Resource{Service: "iam", Type: kind.Noun, Name: name, Attrs: map[string]string{"path": "/", "url": name}})
			id := name
			if kind.Noun == kinds.Provider.Noun {
				id = r.ARN()
			}
			var ids []string
			require.NoError(t, kind.List(t.Context(), api, func(page []kinds.Resource) error {
				for _, r := range page {
					ids = append(ids, r.ID)
				}
				return nil
			}))
			require.Contains(t, ids, id)
			got, err := kind.Get(t.Context(), api, id)
			require.NoError(t, err)
			require.Equal(t, []string{id}, idsOf(t, []kinds.Resource{got}))
		}
		_, err := kind.Get(t.Context(), api, "none.example.com")
		require.True(t, kinds.IsAbsent(err), err)
	}
}

func TestATagWithoutAValueIsATag(t *testing.T) {
	key := mark
	require.Equal(t, map[string]string{mark: ""}, kinds.TagsOf([]*string{&key, nil}, func(key *string) (*string, *string) { return key, nil }))
}
