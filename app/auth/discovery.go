package auth

import (
	"cmp"
	"encoding/json"
	"net/http"
	"slices"

	"github.com/ocpctl/ocpctl/internal/buildinfo"
)

// DiscoveryPath is where a server publishes which tokens it accepts.
const DiscoveryPath = "/.well-known/ocpctl"

// Discovery describes a server for programs that want to sign in. Nothing in it is secret: the refusal of a token contains the same
// names, and the version decides whether a program can talk to the server at all.
type Discovery struct {
	Server       string          `json:"server"` // its public URL
	Version      string          `json:"version"`
	OldestClient string          `json:"oldestClient"` // the oldest ocpctl that it works with
	Issuers      []TrustedIssuer `json:"issuers"`
}

// TrustedIssuer is an issuer whose tokens are accepted for one of the audiences.
type TrustedIssuer struct {
	Issuer    string   `json:"issuer"`
	Audiences []string `json:"audiences"`
}

// Discover lists the trusted issuers with exactly the audiences that Verify accepts.
func (v *Verifier) Discover(server string) Discovery {
	out := Discovery{Server: server, Version: buildinfo.Read().Version, OldestClient: buildinfo.OldestClient, Issuers: []TrustedIssuer{}}
	for url, issuer := range v.issuers {
		out.Issuers = append(out.Issuers, TrustedIssuer{Issuer: url, Audiences: issuer.audiences})
	}
	slices.SortFunc(out.Issuers, func(a, b TrustedIssuer) int { return cmp.Compare(a.Issuer, b.Issuer) })
	return out
}

// ServeDiscovery answers at DiscoveryPath, without authentication.
func (v *Verifier) ServeDiscovery(server string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(v.Discover(server)) // the caller disconnected
	}
}
