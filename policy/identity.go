package policy

import (
	"slices"

	"github.com/ocpctl/ocpctl/profiles"
)

// Claims is what somebody proved about themselves, before it is mapped to seats.
type Claims struct {
	Source   profiles.Source         `json:"source"`
	Issuer   string                  `json:"issuer,omitempty"`   // for OIDC: the token's issuer
	Platform profiles.IssuerPlatform `json:"platform,omitempty"` // for OIDC: what the issuer gives tokens to; empty: unknown
	Subject  string                  `json:"subject"`            // stable, unique within source and issuer; never empty
	Name     string                  `json:"name,omitempty"`     // for people
	Values   map[string][]string     `json:"values,omitempty"`   // attribute → values; see profiles.Identity.Match
	Reused   []string                `json:"reused,omitempty"`   // attributes of a job with names that were another's before: they match no identity; see WithReused
}

// ofPipelineIssuer reports whether the claims are of a pipeline's token, or of another one of an issuer that is configured as a platform of
// pipelines. Anybody who may start a pipeline gets such a token, so it matches no identity that names no issuer.
func (c Claims) ofPipelineIssuer() bool {
	return c.ofPipeline() || c.Source == profiles.SourceOIDC && c.Platform != ""
}

// SeatsOf returns the seats from every identity that matches the claims; none if none matches. A claim can name a team if an identity
// takes teams from it, but never a role and never every team.
func SeatsOf(identities []profiles.Identity, c Claims) []Seat {
	var seats []Seat
	values := c.matchableValues()
	for _, id := range identities {
		role := Role(id.Role)
		if !slices.Contains(Roles, role) || !id.Fits(c.Source, c.Issuer, values) || id.Issuer == "" && c.ofPipelineIssuer() {
			continue
		}
		for _, team := range id.TeamsOf(values) {
			seats = append(seats, Seat{Role: role, Team: team, Own: id.Clusters == profiles.ClustersOwn || c.ofPipeline() && id.Clusters == ""})
		}
	}
	return sortSeats(seats)
}
