package contract

import "time"

// AccessWork is the response to a request for work on access: what differs between who should have access to the cluster and who has. A
// runner that has the cluster's kubeconfig asks for it at …/access. It removes every account that it does not find in Give or Keep.
type AccessWork struct {
	Answer Answer   `json:"answer"`
	Give   []Access `json:"give,omitempty"` // to make
	Take   []Access `json:"take,omitempty"` // to remove
	Keep   []string `json:"keep,omitempty"` // other accounts that are valid

	Console *ConsoleWork `json:"console,omitempty"` // the same for accounts of the console; nil: the server knows none, and all are left alone
}

// ConsoleWork is what differs between who should have an account of the cluster's own OAuth and who has.
type ConsoleWork struct {
	Give []Access `json:"give,omitempty"` // to make
	Take []Access `json:"take,omitempty"` // to remove
	Keep []Access `json:"keep,omitempty"` // others that are valid

	OpenID *OpenIDClient `json:"openId,omitempty"` // with which the cluster signs readers in through the server; nil: it does not
}

// OpenIDClient is what a cluster needs to sign readers in through the server, its OpenID provider.
type OpenIDClient struct {
	Issuer string `json:"issuer"`       // the cluster reads its metadata below this address
	ID     string `json:"clientId"`     //
	Secret string `json:"clientSecret"` // of this cluster alone
	CA     string `json:"ca,omitempty"` // certificates (PEM) with which the cluster verifies the issuer; empty: those that it trusts
}

// Access is one credential for one reader.
type Access struct {
	ID       string        `json:"id"`
	Account  string        `json:"account"`          // name of the service account, or of the user of the console
	Reader   string        `json:"reader"`           // principal id
	Role     string        `json:"role"`             // view, edit or admin
	Lifetime time.Duration `json:"lifetime"`         // of the token or account, at least ten minutes
	OpenID   bool          `json:"openId,omitempty"` // its reader signs in through the server, and it has no password
}

// AccessState is what became of one access.
type AccessState struct {
	ID        string    `json:"id"`
	Console   bool      `json:"console,omitempty"`  // it is an account of the console, and a password was stored instead of a kubeconfig
	OpenID    bool      `json:"openId,omitempty"`   // its reader signs in through the server, and nothing was stored
	StoredAt  time.Time `json:"storedAt,omitzero"`  // the time in the key of what was stored, or at which it was made; zero: it was not made
	ExpiresAt time.Time `json:"expiresAt,omitzero"` // of the token in it, or of the account
	Removed   bool      `json:"removed,omitempty"`  // its account is gone from the cluster
	Trouble   string    `json:"trouble,omitempty"`  // why it could be neither made nor removed, for people
}
