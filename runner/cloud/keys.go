package cloud

import (
	"fmt"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/internal/secret"
)

// Keys are credentials that do not renew themselves. The zero value means whatever the platform's own chain finds.
type Keys struct {
	ID     string // of an access key (AWS), or the address of a hub's API; IBM Cloud's API keys have none
	Secret secret.Text
	Token  secret.Text // only temporary keys have one
	CA     string      // certificates (PEM) with which a hub is verified; empty: those that the system trusts
	Role   Role        // what these keys, or those of the chain, assume; zero: nothing
}

// Role is a role of AWS in an account that is not the installation's. Every program assumes it itself, and again before its session ends, so that
// nothing that takes long depends on how long a session lasts.
type Role struct {
	ARN, ExternalID string
	Session         string // a name, by which the account's trail tells what used the role
}

// RoleOf returns the role that a runner assumes for its attempt or scan.
func RoleOf(r *contract.CloudRole, work string) Role {
	if r == nil {
		return Role{}
	}
	return Role{r.ARN, r.ExternalID, "ocpctl-" + work}
}

// Advice says what to check if the credentials are refused. id is the external id, or where to find it: a cluster is seen by more people than an account.
func (r Role) Advice(id string) string {
	if r.ARN == "" {
		return ""
	}
	return fmt.Sprintf("check that the role %s lets the identity of these credentials assume it with the external id %s (its trust policy), and that this identity may call sts:AssumeRole", r.ARN, id)
}

// Empty reports whether there are no keys.
func (k Keys) Empty() bool { return k.Secret.Empty() }

// Temporary reports whether the keys, or what they assume, expire.
func (k Keys) Temporary() bool { return !k.Token.Empty() || k.Role.ARN != "" }
