package policy

import (
	"slices"

	"github.com/ocpctl/ocpctl/profiles"
)

// Ties are what connects a cluster with a pipeline whose token somebody has, as the store knows it.
type Ties struct {
	Run         bool // it belongs to the run or, for a token that does not name its run, to one of the same namespace
	PullRequest bool // it belongs to the pull request that the run is of
	Signal      bool // a run of the same repository is told when it is ready, or was
	Requester   bool // the same principal asked for it, and it belongs to no run and no pull request
}

// The events by which a signal starts a run, as GitHub spells them. Both start workflows of the default branch.
const (
	EventDeployment = "deployment_status"
	EventDispatch   = "repository_dispatch"
)

// OfPipeline reports whether the principal is limited to clusters of its own: it proved itself with a pipeline's token, or an identity says so.
func (p Principal) OfPipeline() bool {
	return p.Proof != nil && (p.Proof.ofPipeline() || slices.ContainsFunc(p.Seats, func(s Seat) bool { return s.Own }))
}

// pipelineClaims are claims that every pipeline's token has and no person's: of GitHub Actions, GitLab CI, Jenkins and Kubernetes.
var pipelineClaims = []string{"repository", "repository_id", "run_id", "project_path", "project_id", "pipeline_id", "build_number", claimNamespace}

// ofPipeline reports whether the claims are those of a pipeline's token, or of a program in a Kubernetes cluster. The claims tell it, and
// not what the issuer is configured for, because an issuer in one's own network may sign for people too.
func (c Claims) ofPipeline() bool {
	return c.Source == profiles.SourceOIDC && (profiles.PlatformOf(c.Issuer) != "" ||
		slices.ContainsFunc(pipelineClaims, func(name string) bool { return len(c.Values[name]) > 0 }))
}

// Owns reports whether a cluster with these ties is a pipeline's own. The subject of all pull requests of a repository is the same, so
// there it does not make a cluster somebody's own.
func (p Principal) Owns(t Ties) bool {
	if !p.OfPipeline() {
		return false
	}
	event := p.Proof.singleValue("event_name")
	return t.Run || t.PullRequest || t.Signal && (event == EventDeployment || event == EventDispatch) || t.Requester && event != "pull_request"
}
