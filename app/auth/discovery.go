package auth

import (
	"cmp"
	"encoding/json"
	"net/http"
	"slices"
)

// DiscoveryPath is where a server says for whom the tokens have to be that it accepts.
const DiscoveryPath = "/.well-known/ocpctl"

// Discovery is what a server says of itself to programs that want to sign in. Nothing in it is secret: a token that is refused is
// answered with the same names.
type Discovery struct {
	Server  string          `json:"server"` // its address, as people reach it
	Issuers []TrustedIssuer `json:"issuers"`
}

// TrustedIssuer is one whose tokens are accepted if they are for one of the audiences.
type TrustedIssuer struct {
	Issuer    string   `json:"issuer"`
	Audiences []string `json:"audiences"`
}

// Discover lists the trusted issuers with the very audiences that Verify accepts.
func (v *Verifier) Discover(server string) Discovery {
	out := Discovery{Server: server, Issuers: []TrustedIssuer{}}
	for url, issuer := range v.issuers {
		out.Issuers = append(out.Issuers, TrustedIssuer{Issuer: url, Audiences: issuer.audiences})
	}
	slices.SortFunc(out.Issuers, func(a, b TrustedIssuer) int { return cmp.Compare(a.Issuer, b.Issuer) })
	return out
}

// ServeDiscovery answers at DiscoveryPath. Nobody has to have signed in.
func (v *Verifier) ServeDiscovery(server string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(v.Discover(server)) // the caller went away; there is nobody to tell
	}
}
