// Package provision holds the plain types that the runner and the kinds of clusters on hubs share. It makes no calls.
package provision

import (
	"time"

	"github.com/ocpctl/ocpctl/internal/secret"
)

// Order is one cluster, as its kind has to make it.
type Order struct {
	Cluster string            // id
	Name    string            // for people
	InfraID string            // recorded before anything is made under it
	Text    string            // what its profile says, frozen at acceptance: a YAML document of the kind's own
	Tags    map[string]string // as they were accepted
}

// Token opens a cluster until it expires, or its account is removed.
type Token struct {
	Secret  secret.Text
	Expires time.Time
	CA      string // certificates (PEM) of the API; empty: those that everybody trusts
}
