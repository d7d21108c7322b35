package command_test

import (
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4/jwt"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/app/admin"
	"github.com/ocpctl/ocpctl/app/api"
	"github.com/ocpctl/ocpctl/app/auth"
	"github.com/ocpctl/ocpctl/app/costs"
	"github.com/ocpctl/ocpctl/app/credentials"
	"github.com/ocpctl/ocpctl/devstack/oidc"
	"github.com/ocpctl/ocpctl/devstack/postgres/pgtest"
	"github.com/ocpctl/ocpctl/devstack/servicetest"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/policy/catalogue"
	"github.com/ocpctl/ocpctl/profiles"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/inbox"
)

// office is the API as it runs, on a service and a database, and somebody with a terminal before it.
type office struct {
	*service
	url     string
	issuer  *oidc.Issuer
	store   *store.Store
	shelf   servicetest.Shelf
	asked   atomic.Int64
	bearers map[string]string
	names   map[string]string // what stands in braces
	rows    *servicetest.Rows
}

func newOffice(t *testing.T) *office {
	o := &office{service: newService(t), issuer: servicetest.Issuer(t), store: servicetest.Store(t, pgtest.New(t)), shelf: servicetest.Shelf{}}
	terms := servicetest.Catalogue(t, map[string]string{
		"teams/platform.yaml":   "name: platform\nowner: maya\ncostCenters: [sandbox]\nenvironments: [test]\n",
		"teams/security.yaml":   "name: security\nowner: will\ncostCenters: [sandbox]\nenvironments: [test]\n",
		"policies/big.yaml":     "name: big\nrules:\n  - {name: one, when: \"request.name.startsWith('big')\", effect: requireApproval, message: Big ones need a word.}\n",
		"identities/leads.yaml": "identities:\n  - {name: leads, source: oidc, match: {ocpctl_role: [lead]}, role: platform_admin, teams: [\"{groups}\"]}\n",
	})
	current := func() catalogue.Catalogue { return terms }
	cfg := app.Config{
		Store: o.store, Artifacts: o.shelf, Catalogue: current, UI: "http://ocpctl.test", Policy: policy.Settings{Installation: "test"},
		Installs: app.Installs{PullSecretRef: "file:/run/pull-secret"}, Repositories: []app.Repository{{Match: "acme/*", Ownership: policy.Ownership{Team: "platform"}}},
	}
	core := app.New(cfg)
	handler := api.New(api.Config{
		Store: o.store, Pace: api.NewPace(api.Rate{PerSecond: -1}, nil), UI: "http://ocpctl.test",
		App: core, Admin: admin.New(core, cfg), Costs: costs.New(cfg), Credentials: credentials.New(core, cfg),
		Auth: auth.New(auth.Config{
			Issuers: []auth.Issuer{{URL: o.issuer.URL(), Audience: oidc.Audience}}, Identities: func() []profiles.Identity { return terms.Identities },
		}),
	})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		o.asked.Add(1)
		if strings.HasSuffix(r.URL.Path, "/kubeconfig") {
			servicetest.Mint(o, o.store, o.shelf) // a runner did meanwhile what was asked for
		}
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	o.url = server.URL
	o.env = map[string]string{"HOME": t.TempDir(), "XDG_RUNTIME_DIR": t.TempDir()}
	o.world.UUID = func() string { return db.NewID("key") }
	o.cast()
	o.furnish()
	o.rows = servicetest.Keep(t, o.store)
	return o
}

func (o *office) cast() {
	o.bearers = map[string]string{"nobody": ""}
	for name, claims := range map[string]oidc.Claims{
		"member": oidc.Requester, "admin": oidc.Admin, "auditor": oidc.Auditor,
		"lead":     {Subject: "lead", Name: "Lead", Groups: []string{"platform"}, Role: "lead"},
		"stranger": {Subject: "will", Name: "Will", Groups: []string{"security"}, Role: "requester"},
		"chief":    {Subject: "chief", Name: "Chief", Groups: []string{"security"}, Role: "lead"},
		"sees":     {Subject: "sees"}, "uses": {Subject: "uses"}, "roleless": {Subject: "roleless"},
		"expired": {Subject: "maya", Groups: []string{"platform"}, Role: "requester", Expiry: jwt.NewNumericDate(time.Now().Add(-time.Hour))},
	} {
		raw, err := o.issuer.Token(claims)
		require.NoError(o, err)
		o.bearers[name] = raw
	}
}

// as types a line as one of the cast. What stands in braces is filled in from names.
func (o *office) as(who, line string, names map[string]string) (code int, out string) {
	o.Helper()
	require.NoError(o, os.WriteFile(names["{token}"], []byte(o.bearers[who]), 0o600))
	o.env["OCPCTL_SERVER"], o.env["OCPCTL_TOKEN"] = o.url, o.bearers[who]
	args := strings.Fields(filled(line, names))
	if args[0] != "__complete" {
		args = append([]string{"-v"}, args...) // which tells each request, and must tell no secret
	}
	o.asked.Store(0)
	code = int(o.run(args...))
	return code, o.out.String() + o.err.String()
}

func filled(line string, names map[string]string) string {
	for name, value := range names {
		line = strings.ReplaceAll(line, name, value)
	}
	return line
}

// furnish is what the lines speak of.
func (o *office) furnish() {
	home := o.env["HOME"]
	o.names = map[string]string{
		"{home}": home, "{server}": o.url, "{token}": filepath.Join(o.TempDir(), "token"), "{name}": "shop", "{waiting}": "big-one", "{delivery}": "7001",
		"{sees}": "oidc:" + o.issuer.URL() + "#sees", "{uses}": "oidc:" + o.issuer.URL() + "#uses", "{account}": "github:maya", "{context}": "here",
		"{catalogue}": filepath.Join("..", "..", "..", "..", "profiles", "catalogue"), "{export}": filepath.Join(o.TempDir(), "trail.ndjson"),
	}
	o.done("member", "create aws-standard --name shop")
	o.done("member", "hold shop 1h --reason x")
	o.done("member", "create aws-minimal-test --name big-one")
	row, _, err := o.store.List(o.Context(), store.Filter{Named: "shop", Live: true})
	require.NoError(o, err)
	o.names["{cluster}"], o.names["{job}"] = row[0].ID, row[0].JobID
	servicetest.Ready(o, o.store, o.shelf, row[0])
	waits, _, err := o.store.Approvals(o.Context(), store.ApprovalFilter{})
	require.NoError(o, err)
	o.names["{approval}"] = waits[0].ID
	o.done("member", "share shop --principal {sees} --access see")
	o.done("member", "share shop --principal {uses} --access use")
	o.names["{access}"] = strings.Fields(o.done("member", "access list shop -o name"))[0]
	_, handle, _ := strings.Cut(o.done("member", "kubeconfig shop --link"), "/links/")
	o.names["{link}"] = regexp.MustCompile(`^[-\w]+`).FindString(handle)
	_, err = o.store.Pool().Exec(o.Context(), `ALTER TABLE deliveries ALTER COLUMN id RESTART WITH 7001`)
	require.NoError(o, err)
	_, err = o.store.Inbox.SaveDelivery(o.Context(), inbox.Delivery{Source: "github", ID: "guid-1", Event: "ping", Body: []byte(`{}`)})
	require.NoError(o, err)
	require.NoError(o, o.store.Inbox.FinishDelivery(o.Context(), 7001, "nothing to do"))
	_, err = o.store.Pool().Exec(o.Context(), `INSERT INTO accounts (account, number, principal, name, proof, linked_at, seen_at)
		VALUES ('github:maya', '7', $1, 'Maya', '{}', now(), now())`, "oidc:"+o.issuer.URL()+"#maya")
	require.NoError(o, err)
	o.done("admin", "audit export -f {export}")
	o.done("member", "login --server https://elsewhere.example.com --auth token-file --token-file {token} --no-check --name here")
}

// done types a line that goes well.
func (o *office) done(who, line string) string {
	o.Helper()
	code, out := o.as(who, line, o.names)
	require.Zero(o, code, "%s: %s", line, out)
	return out
}

// files are what lies in the home of whoever types, and beside it while they do.
func (o *office) files() map[string]string {
	o.Helper()
	all := map[string]string{}
	for _, dir := range []string{o.env["HOME"], o.env["XDG_RUNTIME_DIR"]} {
		require.NoError(o, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			body, err := os.ReadFile(path)
			all[path] = string(body)
			return err
		}))
	}
	return all
}

// tidy leaves the files as they were.
func (o *office) tidy(before map[string]string) {
	o.Helper()
	for path := range o.files() {
		require.NoError(o, os.Remove(path))
	}
	for path, body := range before {
		require.NoError(o, os.WriteFile(path, []byte(body), 0o600))
	}
}
