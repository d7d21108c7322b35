// Package matrix is the table of permissions: a row for each operation of openapi.yaml and for each page and form, a column for each
// kind of principal. The tests of the API and of the pages compare their entry points with it, and the attacks compare a running demo
// with it, so that permissions are granted in one place.
package matrix

import (
	"bytes"
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4/jwt"
	"go.yaml.in/yaml/v3"

	"github.com/ocpctl/ocpctl/devstack/oidc"
)

//go:embed operations.yaml
var operations []byte

//go:embed pages.yaml
var pages []byte

// Identities is a file for a catalogue's folder identities: it gives TeamAdmin, OtherAdmin and TeamAuditor their roles.
//
//go:embed identities.yaml
var Identities string

// Principal is a kind of principal, a column of the tables.
type Principal string

// The principals, in the order of the columns. Own and other refer to the team of the row's cluster.
const (
	Requester      Principal = "requester" // of the own team; the cluster is theirs
	Admin          Principal = "admin"     // platform admin in every team
	Auditor        Principal = "auditor"   // in every team
	OtherRequester Principal = "other-requester"
	Sees           Principal = "sees" // no role, and a share to see
	Uses           Principal = "uses" // no role, and a share to use
	NoRole         Principal = "no-role"
	Expired        Principal = "expired" // an expired token of the requester's
	Nobody         Principal = "nobody"  // no token
	TeamAdmin      Principal = "team-admin"
	TeamAuditor    Principal = "team-auditor"
	OtherAdmin     Principal = "other-admin"
	Workload       Principal = "workload"       // a workflow of the own team's repository, with its own token
	OtherWorkload  Principal = "other-workload" // a service account of another team
	Runner         Principal = "runner"         // an open attempt's token, of a cluster of the own team
	ClosedRunner   Principal = "closed-runner"  // a closed attempt's token
)

// Principals are the columns.
var Principals = []Principal{
	Requester, Admin, Auditor, OtherRequester, Sees, Uses, NoRole, Expired, Nobody,
	TeamAdmin, TeamAuditor, OtherAdmin, Workload, OtherWorkload, Runner, ClosedRunner,
}

// The teams of the tables.
const (
	OwnTeam   = "platform"
	OtherTeam = "payments"
)

// Claims returns the claims of the principals' tokens from the issuer. The runners' tokens are the server's own, and nobody has none.
func Claims() map[Principal]oidc.Claims {
	expired := oidc.Requester
	expired.Expiry = jwt.NewNumericDate(time.Now().Add(-time.Hour))
	of := func(name, role, team string) oidc.Claims {
		return oidc.Claims{Subject: name, Name: name, Role: role, Groups: []string{team}}
	}
	return map[Principal]oidc.Claims{
		Requester: oidc.Requester, Admin: oidc.Admin, Auditor: oidc.Auditor, Expired: expired,
		OtherRequester: of("other-requester", "requester", OtherTeam),
		TeamAdmin:      of("team-admin", "team_admin", OwnTeam), TeamAuditor: of("team-auditor", "team_auditor", OwnTeam),
		OtherAdmin: of("other-admin", "team_admin", OtherTeam),
		Sees:       {Subject: "sees", Name: "sees"}, Uses: {Subject: "uses", Name: "uses"}, NoRole: {Subject: "no-role", Name: "no-role"},
		Workload: oidc.GitHubActions, OtherWorkload: oidc.Kubernetes,
	}
}

// Row is a request and the response for each principal.
type Row struct {
	Path string            `yaml:"path"` // if the path needs a query or a name
	Body map[string]any    `yaml:"body"` // for an operation, as JSON
	Form map[string]string `yaml:"form"` // for a page's form
	Want string            `yaml:"want"` // in the order of the columns
	Live string            `yaml:"live"` // a running demo's response to everybody, if it differs

	wants map[Principal]string
}

// For returns the response for a principal: a status, or one of the words that the pages' table explains.
func (r Row) For(p Principal) string { return r.wants[p] }

// Operations returns the rows of the API by operation id.
func Operations() (map[string]Row, error) { return read("operations.yaml", operations) }

// Pages returns the rows of the pages by route.
func Pages() (map[string]Row, error) { return read("pages.yaml", pages) }

func read(name string, raw []byte) (map[string]Row, error) {
	var rows map[string]Row
	strict := yaml.NewDecoder(bytes.NewReader(raw))
	strict.KnownFields(true)
	if err := strict.Decode(&rows); err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	for key, row := range rows {
		words := strings.Fields(row.Want)
		if len(words) != len(Principals) {
			return nil, fmt.Errorf("%s: %s has %d columns; give one for each of %v", name, key, len(words), Principals)
		}
		row.wants = map[Principal]string{}
		for i, p := range Principals {
			row.wants[p] = words[i]
		}
		rows[key] = row
	}
	return rows, nil
}

// Missing lists the names without a row and the rows without a name.
func Missing(rows map[string]Row, names []string) []string {
	var wrong []string
	for _, name := range names {
		if _, ok := rows[name]; !ok {
			wrong = append(wrong, name+" has no row")
		}
	}
	for name := range rows {
		if !slices.Contains(names, name) {
			wrong = append(wrong, name+" has a row and is not there")
		}
	}
	slices.Sort(wrong)
	return wrong
}

// Refusals are the responses that mean "not allowed". Whatever is allowed gets another response, even if it is not possible at the
// moment.
var Refusals = []string{"401", "403", "404", "login"}

// Refused reports whether a response is a refusal.
func Refused(answer string) bool { return slices.Contains(Refusals, answer) }
