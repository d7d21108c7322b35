package policy

import (
	"cmp"
	"slices"
)

// Role is what a principal may do, in one team or in every team.
type Role string

// The roles.
const (
	Requester     Role = "requester"      // creates and ends the team's clusters
	PlatformAdmin Role = "platform_admin" // profiles, policy, approvals, retries, break-glass
	Auditor       Role = "auditor"        // looks at everything and changes nothing
)

// Roles lists every role, the most powerful first.
var Roles = []Role{PlatformAdmin, Requester, Auditor}

// EveryTeam is the team of a seat that is valid in every team.
const EveryTeam = "*"

// Seat is a role in one team, or in EveryTeam.
type Seat struct {
	Role Role   `json:"role"`
	Team string `json:"team"`
	Own  bool   `json:"own,omitempty"` // a pipeline's: of the acts on single clusters it allows those on clusters of its own; see Principal.Owns
}

// Principal is who asks: a person or a workload. Its seats come from the catalogue's identity mappings, never from the principal
// itself.
type Principal struct {
	ID    string `json:"id"`   // "saml:maya@acme.example", "oidc:<issuer>#<subject>", "aws:<role ARN>", "github:maya"
	Name  string `json:"name"` // for people
	Seats []Seat `json:"seats,omitempty"`

	Proof *Claims `json:"-"` // the proven claims behind the seats; stored only with linked accounts and offers
	Said  *Claims `json:"-"` // of an account elsewhere: its claims, which prove nothing by themselves; stored only with offers
}

// As returns a principal with one role in the given teams; in every team if none is given.
func As(id, name string, role Role, teams ...string) Principal {
	p := Principal{ID: id, Name: name}
	if len(teams) == 0 {
		teams = []string{EveryTeam}
	}
	for _, team := range teams {
		p.Seats = append(p.Seats, Seat{Role: role, Team: team})
	}
	return p
}

// Has reports whether the principal has one of the roles in the team. A seat that is limited to a pipeline's own clusters does not count.
func (p Principal) Has(team string, roles ...Role) bool {
	return slices.ContainsFunc(p.Seats, func(s Seat) bool { return !s.Own && s.isValidIn(team) && slices.Contains(roles, s.Role) })
}

// isValidIn reports whether the seat is valid in the team.
func (s Seat) isValidIn(team string) bool { return s.Team == EveryTeam || s.Team == team }

// HasAnywhere reports whether the principal has one of the roles in any team.
func (p Principal) HasAnywhere(roles ...Role) bool {
	return slices.ContainsFunc(p.Seats, func(s Seat) bool { return slices.Contains(roles, s.Role) })
}

// Role returns the most powerful role among the principal's seats, for display; empty: none.
func (p Principal) Role() Role {
	for _, role := range Roles {
		if p.HasAnywhere(role) {
			return role
		}
	}
	return ""
}

// Teams lists, sorted, the teams in which the principal has one of the roles (any role if none is given). every: it has one in all
// teams.
func (p Principal) Teams(roles ...Role) (teams []string, every bool) {
	for _, s := range p.Seats {
		if len(roles) > 0 && !slices.Contains(roles, s.Role) {
			continue
		}
		if s.Team == EveryTeam {
			every = true
			continue
		}
		teams = append(teams, s.Team)
	}
	slices.Sort(teams)
	return slices.Compact(teams), every
}

// sortSeats orders seats by team, role and reach, and removes duplicates.
func sortSeats(seats []Seat) []Seat {
	slices.SortFunc(seats, func(a, b Seat) int {
		return cmp.Or(cmp.Compare(a.Team, b.Team), cmp.Compare(a.Role, b.Role), cmp.Compare(a.reachOrder(), b.reachOrder()))
	})
	return slices.Compact(seats)
}

// reachOrder orders seats of one role and team: the one for all clusters first.
func (s Seat) reachOrder() int {
	if s.Own {
		return 1
	}
	return 0
}
