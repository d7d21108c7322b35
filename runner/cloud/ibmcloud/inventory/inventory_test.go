package inventory_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/IBM/go-sdk-core/v5/core"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/deploy/ibmcloud/policies"
	standin "github.com/ocpctl/ocpctl/devstack/ibmcloud"
	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/internal/tagkey"
	"github.com/ocpctl/ocpctl/runner/cloud"
	"github.com/ocpctl/ocpctl/runner/cloud/ibmcloud/access"
	"github.com/ocpctl/ocpctl/runner/cloud/ibmcloud/inventory"
)

const (
	account = "0a1b2c3d4e5f60718293a4b5c6d7e8f9"
	infraID = "shop-bcdfg"
	cco     = "shop-k3j2h5n7p2"
	cluster = "clu_01J2Z0000000000000000000AB"
)

var began = time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)

// scene is a stand-in of IBM Cloud, and a scan's client with no more access than a scan has.
type scene struct {
	*standin.Server
	client *inventory.Client
}

func start(t *testing.T, more ...standin.Caller) *scene {
	t.Helper()
	access, err := policies.Scan()
	require.NoError(t, err)
	server, err := standin.Start(t.Context(), standin.Config{
		Account: account, Now: func() time.Time { return began }, Profiles: []standin.Profile{{ID: "Profile-scan", Token: "token-of-the-pod", Access: &access}},
		Callers: append(more, standin.Caller{Name: "ours", APIKey: "key-of-tests", Access: &access}),
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Stop()) })
	s := &scene{Server: server}
	s.client = s.as(t, "key-of-tests")
	_, err = s.client.Account(t.Context())
	require.NoError(t, err)
	return s
}

func (s *scene) as(t *testing.T, key string) *inventory.Client {
	t.Helper()
	return s.with(t, &core.IamAuthenticator{ApiKey: key, URL: s.URL("iam", "")})
}

func (s *scene) with(t *testing.T, auth access.Authenticator) *inventory.Client {
	t.Helper()
	client, err := inventory.New(inventory.Config{
		Authenticator: auth, HomeRegion: "us-south", BaseDomains: []string{"Labs.example.com.", "internal.example.com"},
		CallsPerSecond: 1_000_000, Backoff: time.Millisecond, URLs: access.URLs{
			IAM: s.URL("iam", ""), ResourceController: s.URL("rc", ""), ResourceManager: s.URL("rc", ""), VPC: s.URL("vpc", "{region}"), CIS: s.URL("cis", ""),
			DNSServices: s.URL("dns", ""), GlobalSearch: s.URL("search", ""), GlobalTagging: s.URL("tags", ""),
		},
	})
	require.NoError(t, err)
	return client
}

// look lists every part and returns what each showed; each part has to be answered.
func (s *scene) look(t *testing.T) map[string]contract.SeenResource {
	t.Helper()
	all := map[string]contract.SeenResource{}
	for _, part := range s.client.Parts([]string{"us-south", "eu-de"}) {
		require.NoError(t, s.client.List(t.Context(), part, func(page []contract.SeenResource) error {
			require.NotEmpty(t, page)
			for _, r := range page {
				require.NotContains(t, all, r.ID, "a resource belongs to one part: %s", part)
				all[r.ID] = r
			}
			return nil
		}), part)
	}
	return all
}

func (s *scene) plant(t *testing.T, r standin.Resource) standin.Resource {
	t.Helper()
	planted, err := s.Plant(r)
	require.NoError(t, err)
	return planted
}

func (s *scene) zone(t *testing.T, name string) standin.Resource {
	t.Helper()
	all := s.All()
	i := slices.IndexFunc(all, func(r standin.Resource) bool { return r.Type == "zone" && r.Name == name })
	require.GreaterOrEqual(t, i, 0, name)
	return all[i]
}

func (s *scene) policy(t *testing.T, kind, subject, resource string) string {
	t.Helper()
	return "policy/" + s.plant(t, standin.Resource{Service: "iam", Type: "policy", State: "active", Attrs: map[string]string{
		"type": kind, "policy": fmt.Sprintf(`{"Type":%q,"Subject":[%s],"Resource":[%s]}`, kind, subject, resource)}}).ID
}

func attributes(pairs ...string) string {
	var all []string
	for i := 0; i < len(pairs); i += 2 {
		all = append(all, fmt.Sprintf(`{"key":%q,"operator":"stringEquals","value":%q}`, pairs[i], pairs[i+1]))
	}
	return strings.Join(all, ",")
}

// settle plants a cluster with everything that it has, and returns the ids under which a scan has to report it.
func (s *scene) settle(t *testing.T) (ids []string, group, vpc standin.Resource) {
	t.Helper()
	group = s.plant(t, standin.Resource{Service: "resource-controller", Type: "resource-group", Name: cco, State: "ACTIVE"})
	is := func(kind, name string, more func(*standin.Resource)) standin.Resource {
		r := standin.Resource{Service: "is", Type: kind, Name: name, Region: "us-south", Group: group.ID, Attrs: map[string]string{}}
		if more != nil {
			more(&r)
		}
		r = s.plant(t, r)
		ids = append(ids, r.CRN())
		return r
	}
	vpc = is("vpc", infraID+"-vpc", func(r *standin.Resource) {
		r.Tags = []string{infraID, "clusterid:" + cluster, "ttlexpiry:2026-11-29T12:00:00Z", "owner:maya"}
	})
	in := func(r *standin.Resource) { r.VPC = vpc.ID }
	is("subnet", infraID+"-subnet-compute-us-south-1", in)
	is("public-gateway", infraID+"-pgateway-us-south-1", in)
	is("instance", infraID+"-worker-1-x7k2p", func(r *standin.Resource) { r.VPC, r.State, r.Attrs["profile"] = vpc.ID, "stopped", "bx2-4x16" })
	is("security-group", "made-by-hand", in)
	is("endpoint-gateway", "of-a-workload", in)
	is("load-balancer", "kube-"+infraID+"-0123456789abcdef0123456789abcdef", nil)
	is("volume", "pvc-1", func(r *standin.Resource) { r.Attrs["capacity"], r.Attrs["profile"] = "100", "general-purpose" })
	is("image", infraID+"-rhcos", func(r *standin.Resource) { r.Attrs["visibility"] = "private" })
	is("floating-ip", "random-name", nil)

	cos := s.plant(t, standin.Resource{Service: "cloud-object-storage", Type: "instance", Name: infraID + "-cos", Group: group.ID})
	id := s.plant(t, standin.Resource{Service: "iam-identity", Type: "serviceid", Name: cco + "-openshift-ingress-operator-cloud-credentials"})
	key := s.plant(t, standin.Resource{Service: "iam-identity", Type: "apikey", Name: "ccoctl-generated-key", Attrs: map[string]string{"iam_id": "iam-" + id.ID}})
	z := s.zone(t, "labs.example.com")
	record := s.plant(t, standin.Resource{Service: "internet-svcs", Type: "dns-record", Name: "*.apps.shop.labs.example.com", Parent: z.ID, Attrs: map[string]string{"type": "CNAME"}})
	p := s.zone(t, "internal.example.com")
	network := s.plant(t, standin.Resource{Service: "dns-svcs", Type: "permitted-network", Parent: p.ID, State: "ACTIVE", Attrs: map[string]string{"vpc_crn": vpc.CRN()}})
	return append(ids, group.CRN(), cos.CRN(), id.CRN(), "api-key/"+key.ID, "record/"+z.ID+"/"+record.Name+"/CNAME/"+record.ID, "permitted-network/"+network.ID,
		s.policy(t, "authorization", attributes("serviceName", "is", "resourceType", "image"), attributes("serviceName", "cloud-object-storage", "serviceInstance", cos.ID)),
		s.policy(t, "access", attributes("iam_id", "iam-"+id.ID), attributes("serviceName", "is"))), group, vpc
}

// crowd plants what belongs to no cluster.
func (s *scene) crowd(t *testing.T) {
	t.Helper()
	group := s.plant(t, standin.Resource{Service: "resource-controller", Type: "resource-group", Name: "default-developers", State: "ACTIVE"})
	vpc := s.plant(t, standin.Resource{Service: "is", Type: "vpc", Name: "office", Region: "us-south", Group: group.ID, Tags: []string{"owner:rob", "env:prod"}})
	s.plant(t, standin.Resource{Service: "is", Type: "instance", Name: "jump-host", Region: "us-south", Group: group.ID, VPC: vpc.ID})
	s.plant(t, standin.Resource{Service: "is", Type: "volume", Name: "pvc-9", Region: "us-south", Group: group.ID})
	s.plant(t, standin.Resource{Service: "cloud-object-storage", Type: "instance", Name: "backups", Group: group.ID})
	id := s.plant(t, standin.Resource{Service: "iam-identity", Type: "serviceid", Name: "pipeline"})
	s.plant(t, standin.Resource{Service: "iam-identity", Type: "apikey", Name: "pipeline-key", Attrs: map[string]string{"iam_id": "iam-" + id.ID}})
	s.policy(t, "access", attributes("iam_id", "iam-"+id.ID), attributes("serviceName", "is"))
	s.policy(t, "access", attributes("iam_id", "IBMid-1"), attributes("resourceGroupId", group.ID))
	z := s.zone(t, "labs.example.com")
	s.plant(t, standin.Resource{Service: "internet-svcs", Type: "dns-record", Name: "www.labs.example.com", Parent: z.ID, Attrs: map[string]string{"type": "A"}})
	p := s.zone(t, "internal.example.com")
	s.plant(t, standin.Resource{Service: "dns-svcs", Type: "permitted-network", Parent: p.ID, State: "ACTIVE", Attrs: map[string]string{"vpc_crn": vpc.CRN()}})
}

func TestEverythingOfAClusterIsSeenAndNothingElse(t *testing.T) {
	s := start(t)
	s.crowd(t)
	require.Empty(t, s.look(t), "nothing of a cluster is there")
	s = start(t)
	s.crowd(t)
	ids, group, vpc := s.settle(t)
	s.Pages(4)
	seen := s.look(t)
	require.ElementsMatch(t, ids, slices.Collect(maps.Keys(seen)))

	of := func(name string) contract.SeenResource {
		for _, r := range seen {
			if r.Name == name && !strings.HasSuffix(r.Type, "-policy") {
				return r
			}
		}
		require.Fail(t, "not seen", name)
		return contract.SeenResource{}
	}
	network := of(infraID + "-vpc")
	require.Equal(t, map[string]string{tagkey.KubernetesCluster + infraID: tagkey.Owned, tagkey.ClusterID: cluster, tagkey.TTLExpiry: "2026-11-29T12:00:00Z", tagkey.Owner: "maya"},
		network.Tags, "as on other clouds, whatever IBM Cloud makes of them")
	require.Equal(t, "vpc us-south "+group.CRN(), network.Type+" "+network.Region+" "+network.Within)
	require.Equal(t, began, network.MadeAt)
	require.Equal(t, vpc.CRN(), of("made-by-hand").Within)
	require.Equal(t, group.CRN(), of("pvc-1").Within)
	require.Equal(t, "general-purpose 100", of("pvc-1").Detail)
	machine := of(infraID + "-worker-1-x7k2p")
	require.True(t, machine.Stopped)
	require.Equal(t, "bx2-4x16", machine.Detail)
	require.Equal(t, group.CRN(), of(infraID+"-cos").Within)
	for id, r := range seen {
		crn := strings.Contains(id, ":is:") || strings.Contains(id, ":cloud-object-storage:")
		require.Equal(t, crn, r.TaggedLater, "%s: what is in the group and is no group, identity or record gets tags", id)
	}
	for _, call := range s.Journal() {
		require.Empty(t, call.Failed, call.Call)
	}
	for _, count := range s.Server.Calls() {
		require.True(t, !count.Write || count.Calls == 0, "a scan only reads")
	}
}

func TestAGroupWithoutADigitIsAClustersIfItsTagsSaySo(t *testing.T) {
	s := start(t)
	group := s.plant(t, standin.Resource{Service: "resource-controller", Type: "resource-group", Name: "shop-abcdefghij", State: "ACTIVE"})
	s.plant(t, standin.Resource{Service: "is", Type: "volume", Name: "pvc-1", Region: "us-south", Group: group.ID})
	require.Empty(t, s.look(t))
	s = start(t)
	group = s.plant(t, standin.Resource{Service: "resource-controller", Type: "resource-group", Name: "shop-abcdefghij", State: "ACTIVE"})
	s.plant(t, standin.Resource{Service: "is", Type: "volume", Name: "pvc-1", Region: "us-south", Group: group.ID})
	s.plant(t, standin.Resource{Service: "is", Type: "volume", Name: "pvc-2", Region: "us-south", Group: group.ID, Tags: []string{"ClusterId:" + cluster}})
	require.Len(t, s.look(t), 3, "the group and two volumes; the tag is told by what has it")
}

func TestWhatIsLeftAloneIsSeen(t *testing.T) {
	s := start(t)
	gone := "00000000-0000-0000-0000-000000000000"
	cos := s.plant(t, standin.Resource{Service: "cloud-object-storage", Type: "instance", Name: infraID + "-cos", State: "pending_reclamation"})
	reclamation := s.plant(t, standin.Resource{Service: "resource-controller", Type: "reclamation", Name: cos.Name, Parent: cos.ID, State: "SCHEDULED", Attrs: map[string]string{"crn": cos.CRN()}})
	key := s.plant(t, standin.Resource{Service: "iam-identity", Type: "apikey", Name: "ccoctl-generated-key", Attrs: map[string]string{"iam_id": "iam-ServiceId-" + gone}})
	p := s.zone(t, "internal.example.com")
	network := s.plant(t, standin.Resource{Service: "dns-svcs", Type: "permitted-network", Parent: p.ID, State: "ACTIVE", Attrs: map[string]string{
		"vpc_crn": "crn:v1:bluemix:public:is:us-south:a/" + account + "::vpc:r006-" + gone}})
	failed := s.plant(t, standin.Resource{Service: "cloud-object-storage", Type: "instance", Name: infraID + "-image-registry", State: "failed"})
	share := s.plant(t, standin.Resource{Service: "is", Type: "share", Name: "files", Region: "us-south", Tags: []string{"kubernetes-io-cluster-" + infraID + ":owned"}})
	last := s.plant(t, standin.Resource{Service: "is", Type: "vpc", Name: "gone", Region: "us-south", Tags: []string{infraID, "clusterid:" + cluster}})
	require.NoError(t, s.Free(last.ID))
	want := []string{
		"reclamation/" + reclamation.ID, "api-key/" + key.ID, "permitted-network/" + network.ID, failed.CRN(), share.CRN(), "user-tag/" + infraID, "user-tag/clusterid:" + strings.ToLower(cluster),
		s.policy(t, "authorization", attributes("serviceName", "is"), attributes("serviceName", "cloud-object-storage", "serviceInstance", gone)),
		s.policy(t, "access", attributes("iam_id", "iam-ServiceId-"+gone), attributes("resourceGroupId", "0123")),
	}
	seen := s.look(t)
	require.ElementsMatch(t, want, slices.Collect(maps.Keys(seen)))
	require.Equal(t, infraID+"-cos", seen["reclamation/"+reclamation.ID].Name)
	require.Equal(t, map[string]string{tagkey.ClusterID: cluster}, seen["user-tag/clusterid:"+strings.ToLower(cluster)].Tags)
	require.Equal(t, "tagged-resource is share", seen[share.CRN()].Type+" "+seen[share.CRN()].Detail)
	require.Equal(t, map[string]string{tagkey.KubernetesCluster + infraID: tagkey.Owned}, seen[share.CRN()].Tags)
}

func TestWhatIsGoneIsNotSeenAlthoughTheIndexStillHasIt(t *testing.T) {
	s := start(t)
	s.SetLag(standin.Lag{Delete: time.Hour})
	for _, kind := range []string{"vpc", "share"} {
		s.plant(t, standin.Resource{Service: "is", Type: kind, Name: infraID + "-" + kind, Region: "us-south", Tags: []string{infraID}})
		require.NoError(t, s.Free(infraID+"-"+kind))
	}
	require.NoError(t, s.Free(infraID)) // the tag itself
	require.Empty(t, s.look(t))
}

func TestAnInstanceThatMayNotBeReadIsNotTakenForGone(t *testing.T) {
	s := start(t)
	s.policy(t, "authorization", attributes("serviceName", "is"), attributes("serviceName", "cloud-object-storage", "serviceInstance", "00000000-0000-0000-0000-000000000000"))
	s.Refuse("rc:get_resource_instance", -1, standin.Denied)
	require.Empty(t, s.look(t))
	s.Lift("rc:get_resource_instance")
	require.Len(t, s.look(t), 1)
}

func TestARefusedListMakesItsPartIncompleteAndNothingElse(t *testing.T) {
	for call, part := range map[string]string{
		"vpc:list_volumes": "us-south/vpc", "rc:list_reclamations": "global/resource-controller", "iam:list_service_ids": "global/iam", "cis:list_all_dns_records": "global/cis",
		"dns:list_permitted_networks": "global/dns", "tags:list_tags": "global/tags", "search:search": "global/search", "rc:list_resource_groups": "us-south/vpc",
	} {
		for _, how := range []string{standin.Denied, standin.Broken} {
			s := start(t)
			s.settle(t)
			s.Refuse(call, -1, how)
			err := s.client.List(t.Context(), part, func([]contract.SeenResource) error { return nil })
			require.ErrorContains(t, err, "was refused with status", "%s %s", call, how)
			require.NotErrorIs(t, err, cloud.ErrCredentials)
		}
	}
	s := start(t)
	s.settle(t)
	s.Refuse("vpc:list_volumes", -1, standin.Denied)
	s.Refuse("vpc:list_keys", -1, standin.Denied)
	count := 0
	err := s.client.List(t.Context(), "us-south/vpc", func(page []contract.SeenResource) error { count += len(page); return nil })
	require.ErrorContains(t, err, "ListVolumes was refused")
	require.ErrorContains(t, err, "1 more lists failed, the last one because ListKeys")
	require.Equal(t, 9, count, "the other lists were read")
}

func TestCredentialsThatAreNotAcceptedAreToldFromRefusals(t *testing.T) {
	s := start(t)
	_, err := s.as(t, "no-such-key").Account(t.Context())
	require.ErrorIs(t, err, cloud.ErrCredentials)
	s.Refuse("vpc:list_vpcs", -1, standin.Expired)
	err = s.client.List(t.Context(), "us-south/vpc", func([]contract.SeenResource) error { return nil })
	require.ErrorIs(t, err, cloud.ErrCredentialsExpired)
	_, err = inventory.New(inventory.Config{HomeRegion: "us-south", CallsPerSecond: 1})
	require.ErrorIs(t, err, cloud.ErrCredentials)
	_, err = inventory.New(inventory.Config{Authenticator: &core.NoAuthAuthenticator{}, CallsPerSecond: 1})
	require.ErrorContains(t, err, "home region")
	require.ErrorContains(t, s.as(t, "key-of-tests").List(t.Context(), "global/iam", nil), "account is not known yet")
	require.ErrorContains(t, s.client.List(t.Context(), "us-south/iam", nil), "knows no such part")
	require.ErrorContains(t, s.client.List(t.Context(), "global/vpc", nil), "knows no such part")
}

func TestAPageThatNobodyTakesEndsThePart(t *testing.T) {
	s := start(t)
	s.settle(t)
	full := errors.New("the report failed")
	calls := 0
	err := s.client.List(t.Context(), "us-south/vpc", func([]contract.SeenResource) error { calls++; return full })
	require.Equal(t, full, err, "as it is")
	require.Equal(t, 1, calls)
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("stop")
	err = s.client.List(ctx, "us-south/vpc", func([]contract.SeenResource) error { cancel(stop); return nil })
	require.Equal(t, stop, err)
}

func TestCallsAreCountedInTheirPartAndThrottledOnesAreRepeated(t *testing.T) {
	s := start(t)
	s.settle(t)
	want := s.look(t)
	require.Equal(t, 13+1, s.client.CallsOf("us-south/vpc"), "one call for each list, and the VPCs again for the private zone")
	require.Equal(t, 13+1+13, s.client.Calls()["vpc"])
	require.Zero(t, s.client.Slowed())
	s.client = s.as(t, "key-of-tests")
	_, err := s.client.Account(t.Context())
	require.NoError(t, err)
	s.Throttle("vpc:*", 3, 5)
	require.Equal(t, want, s.look(t))
	require.Positive(t, s.client.Slowed())

	regions, err := s.client.Regions(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{"eu-de", "us-east", "us-south"}, regions)
}
