package console_test

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/bcrypt"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/internal/secret"
	"github.com/ocpctl/ocpctl/runner/console"
)

var (
	will = contract.Access{ID: "acc_1", Account: "saml-will-a1", Reader: "saml:will@acme.example", Role: "view", Lifetime: time.Hour}
	maya = contract.Access{ID: "acc_2", Account: "saml-maya-a2", Reader: "saml:maya@acme.example", Role: "admin", Lifetime: time.Hour}
)

// cluster is a cluster's API with the operator of its OAuth server.
type cluster struct {
	t          *testing.T
	objects    map[string]map[string]map[string]any // by kind and name
	generation int
	late       int // how many looks the operator takes until it has copied a file
	conflicts  int // how often somebody else writes the OAuth configuration meanwhile
	fails      map[string]error
	asked      []string
}

func newCluster(t *testing.T) *cluster {
	c := &cluster{t: t, objects: map[string]map[string]map[string]any{}, generation: 1, fails: map[string]error{}}
	c.put("oauths.config.openshift.io", "cluster", map[string]any{"metadata": map[string]any{"name": "cluster", "resourceVersion": "1"}, "spec": map[string]any{
		"identityProviders": []any{map[string]any{"name": "corp", "type": "LDAP"}}, "tokenConfig": map[string]any{"accessTokenMaxAgeSeconds": 3600},
	}})
	return c
}

func (c *cluster) put(kind, name string, object map[string]any) {
	if c.objects[kind] == nil {
		c.objects[kind] = map[string]map[string]any{}
	}
	c.objects[kind][name] = object
}

func (c *cluster) names(kind string) []string { return slices.Sorted(maps.Keys(c.objects[kind])) }

func (c *cluster) Get(_ context.Context, args ...string) (secret.Text, error) {
	c.asked = append(c.asked, "get "+strings.Join(args, " "))
	if err := c.fails["get "+args[0]]; err != nil {
		return secret.Text{}, err
	}
	var answer any
	switch {
	case args[0] == "deployments.apps":
		one := map[string]any{"replicas": 3, "updatedReplicas": 3, "availableReplicas": 3, "observedGeneration": c.generation}
		answer = map[string]any{"metadata": map[string]any{"generation": c.generation}, "spec": map[string]any{"replicas": 3}, "status": one}
	case args[0] == "secret" && strings.HasPrefix(args[1], "v4-0-config-user-idp-"):
		if c.late--; c.late >= 0 {
			return secret.Text{}, nil
		}
		from, known := map[string]string{"v4-0-config-user-idp-1-file-data": "ocpctl-console", "v4-0-config-user-idp-2-file-data": "ocpctl-console", "v4-0-config-user-idp-1-client-secret": "ocpctl-openid", "v4-0-config-user-idp-2-client-secret": "ocpctl-openid"}[args[1]]
		require.True(c.t, known, "the place of ours behind the others, not %s", args[1])
		answer = c.objects["secret"][from]
	case len(args) > 1 && !strings.HasPrefix(args[1], "-"):
		one, there := c.objects[args[0]][args[1]]
		if !there {
			return secret.Text{}, nil
		}
		answer = one
	default:
		items := []any{}
		for _, name := range c.names(args[0]) {
			items = append(items, c.objects[args[0]][name])
		}
		answer = map[string]any{"items": items}
	}
	raw, err := json.Marshal(answer)
	require.NoError(c.t, err)
	return secret.New(string(raw)), nil
}

func (c *cluster) Run(_ context.Context, input []byte, args ...string) error {
	c.asked = append(c.asked, strings.Join(args, " "))
	if err := c.fails[args[0]]; err != nil {
		return err
	}
	var object map[string]any
	if input != nil {
		require.NoError(c.t, json.Unmarshal(input, &object))
	}
	switch args[0] {
	case "apply":
		for _, item := range object["items"].([]any) {
			one := item.(map[string]any)
			kind := map[string]string{"Secret": "secret", "ConfigMap": "configmap", "ClusterRoleBinding": "clusterrolebindings.rbac.authorization.k8s.io"}[one["kind"].(string)]
			if before, _ := json.Marshal(c.objects[kind][one["metadata"].(map[string]any)["name"].(string)]); kind == "secret" {
				if now, _ := json.Marshal(one); string(now) != string(before) {
					c.generation++
				}
			}
			c.put(kind, one["metadata"].(map[string]any)["name"].(string), one)
		}
	case "replace":
		if c.conflicts--; c.conflicts >= 0 {
			return errors.New("oc replace: Error from server (Conflict): the object has been modified")
		}
		require.Equal(c.t, "1", object["metadata"].(map[string]any)["resourceVersion"], "so that nobody else's change is lost")
		c.put("oauths.config.openshift.io", "cluster", object)
		c.generation++
	case "delete":
		for _, name := range args[4:] {
			delete(c.objects[args[1]], name)
		}
	}
	return nil
}

// signsIn makes what the OAuth server makes when somebody signs in.
func (c *cluster) signsIn(account string) {
	named := func(name string) map[string]any { return map[string]any{"metadata": map[string]any{"name": name}} }
	token := named("sha256~" + account)
	token["userName"] = account
	c.put("oauthaccesstokens.oauth.openshift.io", "sha256~"+account, token)
	c.put("users.user.openshift.io", account, named(account))
	c.put("identities.user.openshift.io", "ocpctl:"+account, named("ocpctl:"+account))
}

// file is the htpasswd file, by account.
func (c *cluster) file() map[string]string {
	var s struct{ Data struct{ Htpasswd []byte } }
	raw, err := json.Marshal(c.objects["secret"]["ocpctl-console"])
	require.NoError(c.t, err)
	require.NoError(c.t, json.Unmarshal(raw, &s))
	out := map[string]string{}
	for line := range strings.Lines(string(s.Data.Htpasswd)) {
		if account, hash, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			out[account] = hash
		}
	}
	return out
}

func (c *cluster) changer(hidden *[]secret.Text) *console.Changer {
	return &console.Changer{
		Cluster: c, Poll: time.Millisecond, Patience: 200 * time.Millisecond, Redact: func(s ...secret.Text) { *hidden = append(*hidden, s...) },
		Roles: func(role string) []string {
			return map[string][]string{"view": {"view", "cluster-reader"}, "admin": {"cluster-admin"}}[role]
		},
	}
}

func TestAnAccountIsMadeBesideOtherProvidersAndRemovedWithItsSessions(t *testing.T) {
	c, hidden := newCluster(t), []secret.Text{}
	c.late, c.conflicts = 3, 2
	made := c.changer(&hidden).Change(t.Context(), contract.ConsoleWork{Give: []contract.Access{will, maya}})
	require.Empty(t, made.Trouble)
	require.Len(t, made.Passwords, 2)
	require.Len(t, hidden, 2, "before anything else could print one")
	require.NoError(t, bcrypt.CompareHashAndPassword([]byte(c.file()["saml-will-a1"]), []byte(made.Passwords["acc_1"].Reveal())))
	require.Len(t, made.Passwords["acc_1"].Reveal(), 32)
	spec := c.objects["oauths.config.openshift.io"]["cluster"]["spec"].(map[string]any)
	require.Equal(t, []any{map[string]any{"name": "corp", "type": "LDAP"}, map[string]any{
		"name": "ocpctl", "type": "HTPasswd", "mappingMethod": "claim", "htpasswd": map[string]any{"fileData": map[string]any{"name": "ocpctl-console"}},
	}}, spec["identityProviders"])
	require.NotNil(t, spec["tokenConfig"], "the rest of the configuration stays")
	const bindings = "clusterrolebindings.rbac.authorization.k8s.io"
	require.Equal(t, []string{"ocpctl-console-saml-maya-a2-cluster-admin", "ocpctl-console-saml-will-a1-cluster-reader", "ocpctl-console-saml-will-a1-view"}, c.names(bindings))

	c.signsIn("saml-will-a1")
	c.signsIn("saml-maya-a2")
	c.put("users.user.openshift.io", "ada", map[string]any{"metadata": map[string]any{"name": "ada"}})
	kept := c.file()["saml-maya-a2"]
	c.asked = nil
	gone := c.changer(&hidden).Change(t.Context(), contract.ConsoleWork{Take: []contract.Access{will}, Keep: []contract.Access{maya}})
	require.Empty(t, gone.Trouble)
	require.True(t, gone.Removed["acc_1"])
	require.Equal(t, map[string]string{"saml-maya-a2": kept}, c.file(), "whoever stays keeps their password")
	require.Equal(t, []string{"ocpctl-console-saml-maya-a2-cluster-admin"}, c.names(bindings))
	require.Equal(t, []string{"sha256~saml-maya-a2"}, c.names("oauthaccesstokens.oauth.openshift.io"))
	require.Equal(t, []string{"ada", "saml-maya-a2"}, c.names("users.user.openshift.io"))
	require.Equal(t, []string{"ocpctl:saml-maya-a2"}, c.names("identities.user.openshift.io"))
	require.False(t, slices.ContainsFunc(c.asked, func(a string) bool { return strings.HasPrefix(a, "replace") }), "the provider is written once: each write starts the OAuth server anew")

	c.changer(&hidden).Change(t.Context(), contract.ConsoleWork{Take: []contract.Access{maya}})
	require.Empty(t, c.file())
	require.NotEmpty(t, c.objects["secret"]["ocpctl-console"]["data"].(map[string]any)["htpasswd"], "a Secret without a file would degrade the operator")
}

func TestWhatFailsIsSaidOfEachAccount(t *testing.T) {
	for name, one := range map[string]struct {
		change func(*cluster)
		why    string
	}{
		"the OAuth server does not read the file":        {func(c *cluster) { c.late = 1 << 20 }, "has not read the changed accounts yet"},
		"somebody writes the configuration all the time": {func(c *cluster) { c.conflicts = 1 << 20 }, "(Conflict)"},
		"a cluster without OAuth":                        {func(c *cluster) { delete(c.objects, "oauths.config.openshift.io") }, "no OAuth configuration"},
		"a refused binding":                              {func(c *cluster) { c.fails["apply"] = errors.New("oc apply: refused") }, "refused"},
		"sessions that stay":                             {func(c *cluster) { c.fails["delete"] = errors.New("oc delete: refused") }, "refused"},
	} {
		t.Run(name, func(t *testing.T) {
			c, hidden := newCluster(t), []secret.Text{}
			if name == "sessions that stay" {
				require.Empty(t, c.changer(&hidden).Change(t.Context(), contract.ConsoleWork{Give: []contract.Access{maya}}).Trouble)
				c.signsIn(maya.Account)
			}
			one.change(c)
			done := c.changer(&hidden).Change(t.Context(), contract.ConsoleWork{Give: []contract.Access{will}, Take: []contract.Access{maya}})
			for _, id := range []string{will.ID, maya.ID} {
				require.ErrorContains(t, done.Trouble[id], one.why, id)
			}
			require.Empty(t, done.Passwords, "no password of an account that may not work is handed out")
			require.False(t, done.Removed[maya.ID])
		})
	}
}

// A cluster in which nobody opens the console is not touched.
func TestWithoutAccountsNothingIsAsked(t *testing.T) {
	c := newCluster(t)
	c.changer(&[]secret.Text{}).Change(t.Context(), contract.ConsoleWork{})
	require.Empty(t, c.asked)
}

// A reader who signs in through the server has no password, and nothing waits for a file.
func TestAReaderSignsInThroughTheServerBesideThoseWithAPassword(t *testing.T) {
	c, hidden := newCluster(t), []secret.Text{}
	ours := &contract.OpenIDClient{Issuer: "https://ocpctl.example.com/openid", ID: "clu_1", Secret: "the-clusters-secret", CA: "PEM"}
	sso := maya
	sso.OpenID = true
	c.late = 2
	made := c.changer(&hidden).Change(t.Context(), contract.ConsoleWork{Give: []contract.Access{sso}, OpenID: ours})
	require.Empty(t, made.Trouble)
	require.Empty(t, made.Passwords)
	require.Equal(t, []secret.Text{secret.New("the-clusters-secret")}, hidden)
	require.Nil(t, c.objects["secret"]["ocpctl-console"], "there is no file without a password")
	providers := func() []any {
		return c.objects["oauths.config.openshift.io"]["cluster"]["spec"].(map[string]any)["identityProviders"].([]any)
	}
	require.Equal(t, map[string]any{"name": "ocpctl-sso", "type": "OpenID", "mappingMethod": "claim", "openID": map[string]any{
		"clientID": "clu_1", "clientSecret": map[string]any{"name": "ocpctl-openid"}, "issuer": "https://ocpctl.example.com/openid", "ca": map[string]any{"name": "ocpctl-openid"},
		"claims": map[string]any{"preferredUsername": []any{"preferred_username"}, "name": []any{"name"}, "groups": []any{"groups"}},
	}}, providers()[1])
	require.Equal(t, map[string]any{"ca.crt": "PEM"}, c.objects["configmap"]["ocpctl-openid"]["data"])

	// Another reader, and one with a password from before the setting was changed, disturb nobody.
	providers()[1].(map[string]any)["openID"].(map[string]any)["extraScopes"] = []any{}
	providers()[1].(map[string]any)["ldap"] = map[string]any{"url": ""}
	c.asked = nil
	another := will
	another.OpenID = true
	made = c.changer(&hidden).Change(t.Context(), contract.ConsoleWork{Keep: []contract.Access{sso}, Give: []contract.Access{another}, OpenID: ours})
	require.Empty(t, made.Trouble)
	require.False(t, slices.ContainsFunc(c.asked, func(a string) bool { return strings.HasPrefix(a, "replace") }), "no login is interrupted")
	rob := contract.Access{ID: "acc_3", Account: "saml-rob-a3", Reader: "saml:rob@acme.example", Role: "view", Lifetime: time.Hour}
	made = c.changer(&hidden).Change(t.Context(), contract.ConsoleWork{Keep: []contract.Access{sso, another}, Give: []contract.Access{rob}, OpenID: ours})
	require.Len(t, made.Passwords, 1)
	require.Len(t, providers(), 3)

	c.signsIn(maya.Account)
	c.put("identities.user.openshift.io", "ocpctl-sso:"+maya.Account, map[string]any{"metadata": map[string]any{"name": "ocpctl-sso:" + maya.Account}})
	gone := c.changer(&hidden).Change(t.Context(), contract.ConsoleWork{Take: []contract.Access{sso}, Keep: []contract.Access{another, rob}, OpenID: ours})
	require.Empty(t, gone.Trouble)
	require.Empty(t, c.names("identities.user.openshift.io"))
	require.Empty(t, c.names("oauthaccesstokens.oauth.openshift.io"))
	require.NotContains(t, strings.Join(c.names("clusterrolebindings.rbac.authorization.k8s.io"), " "), maya.Account)

	// A new key of the server is a new secret of the cluster.
	before := c.generation
	renewed := *ours
	renewed.Secret = "another"
	made = c.changer(&hidden).Change(t.Context(), contract.ConsoleWork{Keep: []contract.Access{another, rob}, OpenID: &renewed})
	require.Empty(t, made.Trouble)
	require.Greater(t, c.generation, before)

	// A certificate of the server that everybody trusts takes the place of a private one.
	renewed.CA = ""
	made = c.changer(&hidden).Change(t.Context(), contract.ConsoleWork{Keep: []contract.Access{another, rob}, OpenID: &renewed})
	require.Empty(t, made.Trouble)
	require.NotContains(t, providers()[1].(map[string]any)["openID"], "ca", "the cluster would trust the old certificates alone")
}

func TestAnOperatorThatCannotReachTheServerSaysWhy(t *testing.T) {
	c := newCluster(t)
	c.late = 1 << 20
	c.put("clusteroperators.config.openshift.io", "authentication", map[string]any{"status": map[string]any{"conditions": []any{
		map[string]any{"type": "Degraded", "status": "True", "message": "failed to apply IDP ocpctl-sso config: dial tcp: lookup ocpctl.example.com: no such host"}}}})
	sso := maya
	sso.OpenID = true
	done := c.changer(&[]secret.Text{}).Change(t.Context(), contract.ConsoleWork{Give: []contract.Access{sso}, OpenID: &contract.OpenIDClient{Issuer: "https://ocpctl.example.com/openid", ID: "clu_1", Secret: "s"}})
	require.ErrorContains(t, done.Trouble[maya.ID], "no such host")
}
