package ibmcloud_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/IBM/go-sdk-core/v5/core"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/deploy/ibmcloud/policies"
	standin "github.com/ocpctl/ocpctl/devstack/ibmcloud"
	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/internal/secret"
	"github.com/ocpctl/ocpctl/runner/cloud"
	"github.com/ocpctl/ocpctl/runner/cloud/ibmcloud"
)

const (
	account   = "0a1b2c3d4e5f60718293a4b5c6d7e8f9"
	other     = "ffffffffffffffffffffffffffffffff"
	region    = "us-east"
	domain    = "labs.example.com"
	mine      = "shop-x7k2p"
	neighbour = "shop-x7k2pq"      // begins as ours does
	longer    = "my-shop-x7k2p"    // ends as ours does
	namesake  = "shop-x7k2p-q8w2z" // of a cluster that is called like our infraID
	myCCO     = "shop-b2c3d4e5f6"
	theirCCO  = "shop-b2c3d4e5f6-x7"
	cosPlan   = "744bfc56-d12c-4866-88d5-dac9139e0e5d"
	patience  = 10 * time.Second // more than anything takes; nothing waits that long unless it is broken
)

// scene is a cloud, a client for it with no more access than a runner has, and one cluster in it.
type scene struct {
	*standin.Server
	client *ibmcloud.Client
	target cloud.Target
	auth   core.Authenticator
}

func newScene(t *testing.T) *scene {
	t.Helper()
	access, err := policies.Runner()
	require.NoError(t, err)
	server, err := standin.Start(t.Context(), standin.Config{
		Account: account, Settle: 2 * time.Millisecond,
		Callers:  []standin.Caller{{Name: "runner", APIKey: "ours", Access: &access}, {Name: "admin", APIKey: "admin"}, {Name: "theirs", APIKey: "theirs", Account: other}},
		Profiles: []standin.Profile{{ID: "Profile-1", Name: "runners", Token: "pod-token", Access: &access}},
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Stop()) })
	s := &scene{Server: server, auth: &core.IamAuthenticator{ApiKey: "admin", URL: server.URL("iam", "")}, target: cloud.Target{
		Region: region, Name: "shop", BaseDomain: domain, Cluster: "clu_01JZZZZZZZZZZZZZZZZZZZZZZZ", Installation: "test", Account: account,
		Identities: []contract.Identity{{InfraID: mine, CCOName: myCCO, Account: account, Region: region}},
	}}
	s.client = s.as(t, "ours")
	return s
}

// env are the variables by which the client finds the stand-in.
func (s *scene) env(more ...string) func(string) string {
	return func(name string) string {
		for _, pair := range append(more, s.Environment()...) {
			if value, ok := strings.CutPrefix(pair, name+"="); ok {
				return value
			}
		}
		return ""
	}
}

func (s *scene) as(t *testing.T, key string) *ibmcloud.Client {
	t.Helper()
	client, err := ibmcloud.NewHurried(region, cloud.Keys{Secret: secret.New(key)}, s.env(), patience)
	require.NoError(t, err)
	return client
}

// call makes a call as an administrator of the account, and returns the id of what it made.
func (s *scene) call(t *testing.T, method, path string, body any) string {
	t.Helper()
	raw, err := json.Marshal(body)
	require.NoError(t, err)
	r, err := http.NewRequestWithContext(t.Context(), method, s.Base()+path, bytes.NewReader(raw))
	require.NoError(t, err)
	require.NoError(t, s.auth.Authenticate(r))
	answer, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	defer answer.Body.Close()
	var made struct {
		ID, GUID string
		Result   struct{ ID string }
	}
	_ = json.NewDecoder(answer.Body).Decode(&made) // some answers are empty
	require.Less(t, answer.StatusCode, 300, path)
	if made.GUID != "" {
		return made.GUID
	}
	return made.ID + made.Result.ID
}

type object = map[string]any

func (s *scene) plant(t *testing.T, r standin.Resource) standin.Resource {
	t.Helper()
	planted, err := s.Plant(r)
	require.NoError(t, err)
	return planted
}

// vpcObject plants a resource of the VPC service.
func (s *scene) vpcObject(t *testing.T, kind, name, group, vpc string, uses ...string) standin.Resource {
	t.Helper()
	r := standin.Resource{Service: "is", Type: kind, Name: name, Group: group, Region: region, VPC: vpc, Uses: uses, Attrs: map[string]string{"profile": "bx2-4x16"}, Values: map[string][]string{}}
	switch kind {
	case "security-group":
		r.Parent = vpc
	case "image":
		r.Attrs["visibility"] = "private"
	case "load-balancer":
		r.Attrs["hostname"], r.Values["subnets"] = host(name), uses
	}
	return s.plant(t, r)
}

// privateZone adds a zone to the instance of DNS Services that is there from the start, and returns the instance's id.
func (s *scene) privateZone(t *testing.T, name string, records ...string) string {
	t.Helper()
	all := s.All()
	at := slices.IndexFunc(all, func(r standin.Resource) bool { return r.Type == "instance" && r.Service == "dns-svcs" })
	zone := s.plant(t, standin.Resource{Service: "dns-svcs", Type: "zone", Name: name, Parent: all[at].ID, State: "ACTIVE"})
	for _, record := range records {
		s.call(t, "POST", "/dns/v1/instances/"+all[at].ID+"/dnszones/"+zone.ID+"/resource_records", object{"name": record, "type": "CNAME", "ttl": 60, "rdata": object{"cname": "x.example.com"}})
	}
	return all[at].ID
}

// host is that of a load balancer in the cluster's region.
func host(balancer string) string {
	return strings.ToLower(balancer) + "-" + region + ".lb.appdomain.cloud"
}

func (s *scene) group(t *testing.T, name string) string {
	t.Helper()
	return s.call(t, "POST", "/rc/v2/resource_groups", object{"name": name, "account_id": account})
}

func (s *scene) storage(t *testing.T, name, group string) (guid string) {
	t.Helper()
	return s.call(t, "POST", "/rc/v2/resource_instances", object{"name": name, "target": "Global", "resource_group": group, "resource_plan_id": cosPlan})
}

func storageCRN(guid string) string {
	return fmt.Sprintf("crn:v1:bluemix:public:cloud-object-storage:global:a/%s:%s::", account, guid)
}

// deleteStorage is what the installer's destroyer does before it is killed: the instance waits for its reclamation.
func (s *scene) deleteStorage(t *testing.T, guid string) {
	t.Helper()
	s.call(t, "DELETE", "/rc/v2/resource_instances/"+url.PathEscape(storageCRN(guid))+"?recursive=true", nil)
}

// authorization lets images be read from storage, as the installer does.
func (s *scene) authorization(t *testing.T, guid string) string {
	t.Helper()
	return s.call(t, "POST", "/iam/v2/policies", object{
		"type":     "authorization",
		"subject":  object{"attributes": []object{attribute("serviceName", "is"), attribute("accountId", account), attribute("resourceType", "image")}},
		"resource": object{"attributes": []object{attribute("serviceName", "cloud-object-storage"), attribute("accountId", account), attribute("serviceInstance", guid)}},
		"control":  reader,
	})
}

var reader = object{"grant": object{"roles": []object{{"role_id": "crn:v1:bluemix:public:iam::::serviceRole:Reader"}}}}

func attribute(key, value string) object {
	return object{"key": key, "operator": "stringEquals", "value": value}
}

// serviceID makes what ccoctl makes for one request: a service ID with a policy for the resource group and an API key.
func (s *scene) serviceID(t *testing.T, name, group string) string {
	t.Helper()
	id := s.call(t, "POST", "/iam/v1/serviceids/", object{"account_id": account, "name": name})
	s.access(t, "iam-"+id, group)
	s.call(t, "POST", "/iam/v1/apikeys", object{"name": "ccoctl-generated-key", "iam_id": "iam-" + id, "account_id": account})
	return id
}

func (s *scene) access(t *testing.T, iamID, group string) string {
	t.Helper()
	return s.call(t, "POST", "/iam/v2/policies", object{
		"type": "access", "control": reader, "subject": object{"attributes": []object{attribute("iam_id", iamID)}},
		"resource": object{"attributes": []object{attribute("accountId", account), attribute("serviceName", "is"), attribute("resourceGroupId", group)}},
	})
}

// zone returns the path of a zone's records in Internet Services.
func (s *scene) zone(t *testing.T, name string) string {
	t.Helper()
	for _, z := range s.All() {
		if z.Type == "zone" && z.Name == name && z.Service == "internet-svcs" {
			return "/cis/v1/" + url.PathEscape("crn:v1:bluemix:public:internet-svcs:global:a/"+account+":"+z.Parent+"::") + "/zones/" + z.ID + "/dns_records"
		}
	}
	t.Fatalf("there is no zone %s", name)
	return ""
}

func (s *scene) record(t *testing.T, name, content string) string {
	t.Helper()
	return s.call(t, "POST", s.zone(t, domain), object{"name": name, "type": "CNAME", "content": content})
}

// cluster makes everything that an installed cluster has, with the names of an infraID and a ccoName, and returns its resource group.
func (s *scene) cluster(t *testing.T, infraID, ccoName, name string) (group string) {
	t.Helper()
	group = s.group(t, ccoName)
	vpc := s.vpcObject(t, "vpc", infraID+"-vpc", group, "")
	for _, sg := range []string{"cluster-wide", "cp-internal"} {
		s.vpcObject(t, "security-group", infraID+"-sg-"+sg, group, vpc.ID)
	}
	gateway := s.vpcObject(t, "public-gateway", infraID+"-pgateway-us-east-1", group, vpc.ID, vpc.ID)
	address := standin.Resource{Service: "is", Type: "floating-ip", Name: "unnamed-" + infraID[:4], Group: group, Parent: gateway.ID, Attrs: map[string]string{"target": gateway.ID, "address": "203.0.113.9"}}
	s.plant(t, address)
	subnet := s.vpcObject(t, "subnet", infraID+"-subnet-control-plane-us-east-1", group, vpc.ID, vpc.ID, gateway.ID)
	for _, balancer := range []string{infraID + "-kubernetes-api-private", infraID + "-kubernetes-api-public", "kube-" + infraID + "-0123456789abcdef0123456789abcdef"} {
		s.vpcObject(t, "load-balancer", balancer, group, vpc.ID, subnet.ID)
	}
	for _, machine := range []string{"master-0", "master-1", "master-2", "worker-1-2lbln"} {
		m := s.vpcObject(t, "instance", infraID+"-"+machine, group, vpc.ID, subnet.ID)
		s.plant(t, standin.Resource{Service: "is", Type: "volume", Name: "boot-" + m.ID, Group: group, Parent: m.ID, Attrs: map[string]string{"attached": m.ID, "boot": "true"}})
	}
	s.vpcObject(t, "volume", "pvc-0f8f8a8e", group, "")
	s.vpcObject(t, "image", infraID+"-rhcos", group, "")
	guid := s.storage(t, infraID+"-cos", group)
	s.storage(t, infraID+"-image-registry", group)
	s.authorization(t, guid)
	s.serviceID(t, ccoName+"-openshift-image-registry-installer-cloud-credentials", group)
	s.serviceID(t, ccoName+"-openshift-machine-api-ibmcloud-credentials", group)
	for own, balancer := range map[string]string{"api.": "-kubernetes-api-public", "api-int.": "-kubernetes-api-private", "*.apps.": "-kubernetes-api-public"} {
		s.record(t, own+name+"."+domain, host(infraID+balancer))
	}
	require.NoError(t, s.Retag(func(r standin.Resource) bool { return r.ID == vpc.ID || r.ID == subnet.ID }, infraID))
	return group
}

// left is what there is, by type and name or id, in the account beyond what it had from the start.
func (s *scene) left() []string {
	var out []string
	for _, r := range s.Resources("") {
		out = append(out, strings.TrimSuffix(r.Type+" "+r.Name, " "))
	}
	return out
}
