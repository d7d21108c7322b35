package policy

import (
	"slices"

	"github.com/ocpctl/ocpctl/profiles"
)

// Claims is what somebody proved of themselves, before anybody asks what it gives them.
type Claims struct {
	Source  profiles.Source     `json:"source"`
	Issuer  string              `json:"issuer,omitempty"` // of oidc: the token's
	Subject string              `json:"subject"`          // stable, unique within source and issuer; never empty
	Name    string              `json:"name,omitempty"`   // for people
	Values  map[string][]string `json:"values,omitempty"` // attribute → values; see profiles.Identity.Match
}

// SeatsOf gives the seats of whoever proved the claims: those of every identity that matches. Who matches none has none.
// A claim can name a team, where an identity takes teams from it, but never a role and never every team.
func SeatsOf(identities []profiles.Identity, c Claims) []Seat {
	var seats []Seat
	for _, id := range identities {
		role := Role(id.Role)
		if !slices.Contains(Roles, role) || !id.Fits(c.Source, c.Issuer, c.Values) {
			continue
		}
		for _, team := range id.TeamsOf(c.Values) {
			seats = append(seats, Seat{Role: role, Team: team})
		}
	}
	return sortSeats(seats)
}
