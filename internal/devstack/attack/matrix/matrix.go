// Package matrix is the table of who may do what: a row for each operation of openapi.yaml and for each page and form, a column
// for each kind of principal. The tests of the API and of the pages hold their doors against it, and the attacks hold a running
// demo against it, so that a right is granted in one place.
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

	"github.com/ocpctl/ocpctl/internal/devstack/oidc"
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

// The principals, in the order of the columns. Own and other are about the team of the cluster that a row is about.
const (
	Requester      Principal = "requester" // of the own team; the cluster is theirs
	Admin          Principal = "admin"     // platform admin in every team
	Auditor        Principal = "auditor"   // in every team
	OtherRequester Principal = "other-requester"
	Sees           Principal = "sees" // no role, and a share to see
	Uses           Principal = "uses" // no role, and a share to use
	NoRole         Principal = "no-role"
	Expired        Principal = "expired" // a token of the requester's that is over
	Nobody         Principal = "nobody"  // no token
	TeamAdmin      Principal = "team-admin"
	TeamAuditor    Principal = "team-auditor"
	OtherAdmin     Principal = "other-admin"
	Workload       Principal = "workload"       // a workflow of the own team's repository, by its own token
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

// Claims are what the issuer's tokens of the principals say. The runners' tokens are the server's own, and nobody has none.
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

// Row is what is asked and what each principal is answered.
type Row struct {
	Path string            `yaml:"path"` // of an operation, where its own path lacks a query or a name
	Body map[string]any    `yaml:"body"` // of an operation, as JSON
	Form map[string]string `yaml:"form"` // of a page's form
	Want string            `yaml:"want"` // in the order of the columns
	Live string            `yaml:"live"` // what a running demo answers everybody, where that differs

	wants map[Principal]string
}

// For is what a principal is answered: a status, or one of the words that the pages' table explains.
func (r Row) For(p Principal) string { return r.wants[p] }

// Operations are the rows of the API by the ids of operations.
func Operations() (map[string]Row, error) { return read("operations.yaml", operations) }

// Pages are the rows of the pages by their routes.
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

// Missing lists the names that have no row and the rows that have no name.
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

// Refusals are the answers that tell somebody that they may not. What they may is answered otherwise, also where it cannot be
// done at the moment.
var Refusals = []string{"401", "403", "404", "login"}

// Refused says whether an answer is a refusal.
func Refused(answer string) bool { return slices.Contains(Refusals, answer) }
