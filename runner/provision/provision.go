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
	Version string            // of OpenShift, for a kind that has one
	Release string            // image of that version, pinned; empty: the public one
	Domain  string            // the base domain, for a kind that has one
}

// Look is what one look at a cluster that is being made has seen.
type Look struct {
	Ready   bool
	Percent int    // of its making
	Step    string // what is waited for, for people
	Reason  string // code of why it can never be made, or, as Waits, of why it is not ready yet
	Message string // the hub's own words about that
	Waits   bool   // Reason may go away by itself
	Whose   string // whose problem Reason is: one of contract's Whose values
	Next    string
}

// Access is how a cluster with an API of its own is opened.
type Access struct {
	Kubeconfig secret.Text
	Password   secret.Text // of kubeadmin
}

// Token opens a cluster until it expires, or its account is removed.
type Token struct {
	Secret  secret.Text
	Expires time.Time
	CA      string // certificates (PEM) of the API; empty: those that everybody trusts
}
