package profiles

// Scope says over whom a quota counts.
type Scope string

// The scopes.
const (
	ScopePerson     Scope = "person"     // who asked
	ScopeTeam       Scope = "team"       // whose the cluster is
	ScopeRepository Scope = "repository" // where its pull request is
	ScopeEverywhere Scope = "everywhere" // the whole installation
)

// Quota bounds how much of something is there at once. Every quota that matches a request applies.
type Quota struct {
	Name  string
	Scope Scope
	Match []string // globs over the person's id, the team's name or owner/name; empty: all. Each match is counted by itself

	// 0: no such limit. Live counts every accepted cluster until it is released, Creating those that are not ready yet.
	Live, Creating int
	NodeHours      int // of a calendar month (UTC): used, and still to come until the living ones end
}
