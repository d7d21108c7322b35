package count

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/IBM/go-sdk-core/v5/core"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/runner/cloud"
	"github.com/ocpctl/ocpctl/runner/cloud/ibmcloud/access"
	"github.com/ocpctl/ocpctl/runner/cloud/ibmcloud/kinds"
)

// answering is a client of a cloud that answers every request in one way, with a token for account 0a1b.
func answering(t *testing.T, status int, body string) *Client {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}))
	t.Cleanup(server.Close)
	// {"account":{"bss":"0a1b"}}
	token, err := core.NewBearerTokenAuthenticator("e30.eyJhY2NvdW50Ijp7ImJzcyI6IjBhMWIifX0.c2ln")
	require.NoError(t, err)
	u := server.URL
	return New(Config{Authenticator: token, MaxBackoff: time.Millisecond, URLs: access.URLs{
		IAM: u, ResourceController: u, ResourceManager: u, VPC: u, CIS: u, DNSServices: u, GlobalSearch: u, GlobalTagging: u,
	}})
}

// everyQuestion are all queries that a pass may make.
func everyQuestion(c *Client) []question {
	id := identity{cluster: "01HX", infraIDs: []string{"demo-abcde"}, ccoNames: []string{"demo-k3j2"}, groupIDs: []string{"g1"}}
	target := cloud.Target{Name: "demo", BaseDomain: "labs.example.com", Region: "us-south", Identities: []contract.Identity{{InfraID: "demo-abcde", CCOName: "demo-k3j2"}}}
	zones := []kinds.Zone{{Instance: "crn:v1:bluemix:public:internet-svcs:global:a/0a1b:1::", ID: "z1", Name: "labs.example.com"}, {Instance: "2", ID: "z2", Name: "labs.example.com", Private: true}}
	v := &verification{pass: &contract.Pass{Account: "0a1b"}, seen: map[string]bool{}}
	v.addReplies(reply{things: []thing{
		{kind: kindHit, crn: "crn:v1:bluemix:public:is:eu-de:a/0a1b::vpc:r010-1"}, {kind: kindHit, crn: "crn:v1:bluemix:public:kms:us-south:a/0a1b:5::"},
	}})
	all := append(c.firstQuestions(target, id, zones, v), c.followUps(id, []string{"us-south"}, v)...)
	for _, kind := range kinds.AllVPC {
		all = append(all, c.vpcQuestion("us-south", kind, "all"))
	}
	g := recordedGroup{name: "demo-k3j2", id: "g1", used: true}
	return append(all, c.instancesOf(kinds.InternetServices, new([]string)), c.groupByID(g), c.seesAllGroups("0a1b", g))
}

func TestWhatIsNoAnswerIsNeverAnEmptyList(t *testing.T) {
	for name, reply := range map[string]struct {
		status int
		body   string
	}{
		"no body":          {200, ""},
		"an empty object":  {200, "{}"},
		"null":             {200, "null"},
		"no JSON":          {200, "<html>"},
		"a cut answer":     {200, `{"vpcs":[`},
		"forbidden":        {403, `{"errors":[{"code":"not_authorized","message":"no"}]}`},
		"unauthorized":     {401, `{"errorCode":"BXNIM0407E","errorMessage":"no"}`},
		"not implemented":  {501, ``},
		"another service":  {400, `{"success":false,"errors":[{"code":1004,"message":"DNS Validation Error"}]}`},
		"a lying redirect": {304, ``},
	} {
		c := answering(t, reply.status, reply.body)
		for _, q := range everyQuestion(c) {
			a := c.askOne(t.Context(), q)
			require.NotEmpty(t, a.query.Err, "%s: %s %s", name, q.call, q.asked)
			require.Len(t, a.things, 1, "%s: %s %s", name, q.call, q.asked)
			require.Equal(t, kindRefused, a.things[0].kind)
			require.NotEmpty(t, a.things[0].free)
		}
	}
}

func TestNotFoundIsAnAnswerForOneResourceAndNotForAList(t *testing.T) {
	c := answering(t, http.StatusNotFound, `{"errors":[{"code":"not_found","message":"no"}]}`)
	for _, q := range everyQuestion(c) {
		a := c.askOne(t.Context(), q)
		if q.call == "GetResourceInstance" || q.call == "GetResourceGroup" {
			require.Empty(t, a.query.Err)
			require.Empty(t, a.things)
			continue
		}
		require.Contains(t, a.query.Err, "404", "%s %s", q.call, q.asked)
	}
}

func TestARefusalSaysWhatTheServiceAnswered(t *testing.T) {
	for body, want := range map[string]string{
		`{"success":false,"errors":[{"code":10000,"message":"Authentication error"}],"result":null}`:    "status 403: 10000 Authentication error",
		`{"errors":[{"code":"not_authorized","message":"The request is not authorized."}],"trace":"1"}`: "status 403: not_authorized The request is not authorized.",
		`{"error_code":"RC-Forbidden","message":"You are not authorized","status_code":403}`:            "status 403: RC-Forbidden You are not authorized",
		`{"errorCode":"BXNIM0513E","errorMessage":"You are not authorized to use this API"}`:            "status 403: BXNIM0513E You are not authorized to use this API",
	} {
		c := answering(t, http.StatusForbidden, body)
		for _, q := range everyQuestion(c) {
			require.Contains(t, c.askOne(t.Context(), q).query.Err, want, q.call)
		}
	}
}

func TestWithoutCredentialsNothingIsProven(t *testing.T) {
	pass := New(Config{}).Verify(t.Context(), cloud.Target{Region: "us-south"})
	require.False(t, pass.Clean, "without credentials nothing is proven")
	require.Empty(t, pass.Control)
	require.Equal(t, kindRefused, pass.Leftovers[0].Type)
}

func TestAnEmptyListIsAnAnswer(t *testing.T) {
	lists := []string{"instances", "load_balancers", "endpoint_gateways", "virtual_network_interfaces", "volumes", "snapshots", "floating_ips", "images", "keys",
		"security_groups", "subnets", "public_gateways", "vpcs", "resources", "serviceids", "apikeys", "policies", "result", "resource_records", "dnszones",
		"permitted_networks", "items"}
	c := answering(t, 200, `{"id":"1","state":"removed","total_count":0,"result_info":{"page":1,"per_page":20,"count":0,"total_count":0},"`+strings.Join(lists, `":[],"`)+`":[]}`)
	for _, q := range everyQuestion(c) {
		a := c.askOne(t.Context(), q)
		if q.call == "GetResourceGroup" || strings.HasPrefix(q.asked, "type=access") { // there are always some policies
			require.NotEmpty(t, a.query.Err, "%s %s", q.call, q.asked)
			continue
		}
		require.Empty(t, a.query.Err, "%s %s", q.call, q.asked)
		require.Empty(t, a.things, "%s %s", q.call, q.asked)
	}
}
