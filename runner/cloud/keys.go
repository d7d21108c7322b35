package cloud

import "github.com/ocpctl/ocpctl/internal/secret"

// Keys are credentials that do not renew themselves. The zero value means whatever the platform's own chain finds.
type Keys struct {
	ID     string // of an access key (AWS), or the address of a hub's API; IBM Cloud's API keys have none
	Secret secret.Text
	Token  secret.Text // only temporary keys have one
	CA     string      // certificates (PEM) with which a hub is verified; empty: those that the system trusts
}

// Empty reports whether there are no keys.
func (k Keys) Empty() bool { return k.Secret.Empty() }

// Temporary reports whether the keys expire.
func (k Keys) Temporary() bool { return !k.Token.Empty() }
