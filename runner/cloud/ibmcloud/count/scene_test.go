package count_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/IBM/go-sdk-core/v5/core"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/deploy/ibmcloud/policies"
	standin "github.com/ocpctl/ocpctl/devstack/ibmcloud"
	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/runner/cloud"
	"github.com/ocpctl/ocpctl/runner/cloud/ibmcloud/access"
	"github.com/ocpctl/ocpctl/runner/cloud/ibmcloud/count"
)

const (
	account   = "0a1b2c3d4e5f60718293a4b5c6d7e8f9"
	mine      = "demo-bcdfg"
	neighbour = "demo-bcdfgh"      // begins as ours does
	namesake  = "demo-bcdfg-q8w2z" // of a cluster that is called like our infraID
	myCCO     = "demo-k3j2h5n7p2"
	theirCCO  = "demo-k3j2h5n7p2x"
	cluster   = "clu_01J2Z0000000000000000000AB"
)

// scene is a stand-in of IBM Cloud, and a count of the cluster demo in it.
type scene struct {
	*standin.Server
	now    time.Time
	client *count.Client
	target cloud.Target
}

func start(t *testing.T) *scene {
	t.Helper()
	s := &scene{now: time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)}
	access, err := policies.Runner()
	require.NoError(t, err)
	server, err := standin.Start(t.Context(), standin.Config{
		Account: account, RetryAfter: 0, Now: func() time.Time { return s.now },
		Callers: []standin.Caller{{Name: "ours", APIKey: "key-of-tests", Access: &access}, {Name: "other", APIKey: "key-of-another", Account: "ffffffffffffffffffffffffffffffff"},
			{Name: "elsewhere", APIKey: "key-of-another-group", Access: &access, Groups: []string{"Default"}}},
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Stop()) })
	s.Server = server
	s.client = s.as("key-of-tests")
	s.target = cloud.Target{
		Region: "us-south", Name: "demo", BaseDomain: "labs.example.com", Cluster: cluster, Installation: "lab", Account: account,
		Identities: []contract.Identity{{InfraID: mine, CCOName: myCCO, Account: account, Region: "us-south"}},
	}
	return s
}

// as is a count with an API key.
func (s *scene) as(key string) *count.Client {
	return count.New(count.Config{
		Authenticator: &core.IamAuthenticator{ApiKey: key, URL: s.URL("iam", "")}, MaxBackoff: time.Millisecond, Now: func() time.Time { return s.now },
		URLs: access.URLs{
			IAM: s.URL("iam", ""), ResourceController: s.URL("rc", ""), ResourceManager: s.URL("rc", ""), VPC: s.URL("vpc", "{region}"), CIS: s.URL("cis", ""),
			DNSServices: s.URL("dns", ""), GlobalSearch: s.URL("search", ""), GlobalTagging: s.URL("tags", ""),
		},
	})
}

func (s *scene) verify(t *testing.T) contract.Pass {
	t.Helper()
	return s.client.Verify(t.Context(), s.target)
}

func (s *scene) plant(t *testing.T, r standin.Resource) standin.Resource {
	t.Helper()
	planted, err := s.Plant(r)
	require.NoError(t, err)
	return planted
}

// group plants a resource group.
func (s *scene) group(t *testing.T, name string) string {
	t.Helper()
	return s.plant(t, standin.Resource{Service: "resource-controller", Type: "resource-group", Name: name, State: "ACTIVE"}).ID
}

// is plants a resource of the VPC service in us-south.
func (s *scene) is(t *testing.T, kind, name string, more ...func(*standin.Resource)) standin.Resource {
	t.Helper()
	r := standin.Resource{Service: "is", Type: kind, Name: name, Region: "us-south"}
	for _, do := range more {
		do(&r)
	}
	return s.plant(t, r)
}

func inGroup(id string) func(*standin.Resource)    { return func(r *standin.Resource) { r.Group = id } }
func inVPC(id string) func(*standin.Resource)      { return func(r *standin.Resource) { r.VPC = id } }
func tagged(tag ...string) func(*standin.Resource) { return func(r *standin.Resource) { r.Tags = tag } }

// zone returns the zone of a name.
func (s *scene) zone(t *testing.T, name string) standin.Resource {
	t.Helper()
	all := s.All()
	i := slices.IndexFunc(all, func(r standin.Resource) bool { return r.Type == "zone" && r.Name == name })
	require.GreaterOrEqual(t, i, 0, name)
	return all[i]
}

func (s *scene) record(t *testing.T, name string) {
	t.Helper()
	z := s.zone(t, "labs.example.com")
	s.plant(t, standin.Resource{Service: "internet-svcs", Type: "dns-record", Name: name, Parent: z.ID, Attrs: map[string]string{"type": "CNAME", "content": "lb.example.net"}})
}

// instance plants a service's instance.
func (s *scene) instance(t *testing.T, service, name, group string) standin.Resource {
	t.Helper()
	return s.plant(t, standin.Resource{Service: service, Type: "instance", Name: name, Group: group})
}

func (s *scene) policy(t *testing.T, kind, subject, resource string) {
	t.Helper()
	s.plant(t, standin.Resource{Service: "iam", Type: "policy", State: "active", Attrs: map[string]string{
		"type": kind, "policy": fmt.Sprintf(`{"Type":%q,"Subject":[%s],"Resource":[%s]}`, kind, subject, resource)}})
}

func attribute(key, value string) string {
	return fmt.Sprintf(`{"key":%q,"operator":"stringEquals","value":%q}`, key, value)
}

// kinds are what a pass says is left, sorted.
func kinds(p contract.Pass) []string {
	var all []string
	for _, l := range p.Leftovers {
		all = append(all, l.Type)
	}
	slices.Sort(all)
	return all
}
