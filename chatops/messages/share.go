package messages

import (
	"fmt"
)

// CannotShare is the answer to an invalid share; its problems follow.
const CannotShare = "The cluster cannot be shared like this."

// The problems with the grantee of a share.
var (
	SharedWithOwnTeam  = Problem{"the cluster already belongs to this team", []string{"another team"}}
	SharedWithYourself = Problem{"this is you: your role gives you access, and the share would give it even without the role", []string{"another person", "a team"}}
	UnknownSharePerson = Problem{"it is empty or too long", []string{"a principal's id, as that person sees it on their own page: saml:…, oidc:…, aws:… or github:…"}}
)

// UnknownShareTeam is the problem with a share for a team that does not exist.
func UnknownShareTeam(team string) Problem {
	return Problem{noTeam(team), []string{"a team that the catalogue declares"}}
}

// UnknownAccess is the problem with an access that does not exist.
func UnknownAccess(access string, known ...string) Problem {
	return Problem{fmt.Sprintf("%q is not a kind of access", access), known}
}

// UnknownGrantee is the problem with a kind of grantee that does not exist.
func UnknownGrantee(kind string, known ...string) Problem {
	return Problem{fmt.Sprintf("%q is not a kind of grantee", kind), known}
}

// NotShared tells somebody that the share they want to remove does not exist.
func NotShared(name, kind, grantee string) string {
	return fmt.Sprintf("%s is not shared with %s %s. The list of its shares shows with whom it is.", name, kind, grantee)
}
