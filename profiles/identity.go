package profiles

// Source is how somebody proved who they are.
type Source string

// The sources.
const (
	SourceSAML   Source = "saml"
	SourceOIDC   Source = "oidc"
	SourceAWS    Source = "aws"    // signed GetCallerIdentity
	SourceGitHub Source = "github" // the author of an event, with the permission GitHub tells
	SourceSlack  Source = "slack"
)

// Identity maps what somebody proved to seats. Every identity that matches gives its seats; who matches none has none.
type Identity struct {
	Name   string
	Source Source
	Issuer string // of oidc: the issuer's address; empty: any that is trusted

	// Match holds every attribute that must fit, each with the globs of which one must ("*" crosses everything but is never
	// empty). Attributes: of saml and oidc the claims (groups, email, sub, repository, ref, environment …), of aws arn (of
	// the role or user), account, and session; of github login, permission, repository.
	Match map[string][]string

	Role  string   // requester, platform_admin or auditor
	Teams []string // names; "*": every team; "{groups}": what that attribute holds; "{owner}": of github, the team of the repository's entry
}
