package attack

import (
	"context"
	"maps"
	"net/http"

	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/devstack/must"
	"github.com/ocpctl/ocpctl/devstack/oidc"
)

// The logins of an account before and after it is renamed. No other attack comes from them.
const (
	nameBefore = "name-before"
	nameAfter  = "name-after"
)

// nameAttacks are those of whoever has another name, or a name that was another's.
func nameAttacks() []attack {
	return []attack{
		{name: "name/renamed-approver", who: "author of a fork, renamed", tried: "approve the own request under another login; then a stranger takes the old one", short: true, play: renamedApprover},
		{name: "name/reused-repository", who: "workflow of a stranger's", tried: "a token of a repository that has the name and the subject of the team's", short: true, play: reusedRepository},
	}
}

// renamedApprover has an author ask for a cluster, rename the account and approve, and then a stranger take the login.
func renamedApprover(ctx context.Context, t *target) (result, error) {
	must.Do(t.GitHub.AddAccount(nameBefore, false))
	must.Do(t.GitHub.SetPermission(nameBefore, "write"))
	pr := must.Get(t.GitHub.OpenFork("An author is renamed", nameBefore))
	must.Do(t.GitHub.Label(pr, "ocp/"+smallProfile, nameBefore))
	id := must.Get(t.clusterOfPull(ctx, pr))
	must.Get(t.becomes(ctx, id, "awaiting_approval"))
	must.Do(t.GitHub.RenameAccount(nameBefore, nameAfter))
	must.Do(t.commentAndSettle(ctx, pr, nameAfter, "/ocp approve"))
	must.Do(t.GitHub.AddAccount(nameBefore, false))
	must.Do(t.commentAndSettle(ctx, pr, nameBefore, "/ocp approve", "/ocp destroy"))
	now := must.Get(t.state(ctx, id))
	votes := must.Get(t.count(ctx, "SELECT count(*) FROM approval_votes v JOIN approvals a ON a.id = v.approval_id WHERE a.cluster_id = $1", id))
	must.Do(t.GitHub.Close(pr, "maya"))
	throughIf(votes > 0 || now.Phase != "awaiting_approval", "%d votes, and the cluster is %s", votes, now.Phase)
	return held("the renamed author and the stranger with the old login approved and destroyed nothing")
}

// commentAndSettle writes comments and waits until all were read.
func (t *target) commentAndSettle(ctx context.Context, pr int, as string, bodies ...string) error {
	for _, body := range bodies {
		if _, err := t.GitHub.Comment(pr, body, as); err != nil {
			return err
		}
	}
	return t.settled(ctx)
}

// reusedRepository shares a cluster with the team's workflow, and has a workflow of a repository with another number, owner, or both, but
// with the same names use it.
func reusedRepository(ctx context.Context, t *target) (result, error) {
	const name = "name-reused"
	id := must.Get(t.ready(ctx, oidc.Requester, name))
	requester := must.Get(t.as(oidc.Requester))
	workflow := must.Get(t.as(oidc.GitHubActions))
	share := map[string]string{"kind": "principal", "with": t.idOf(oidc.GitHubActions), "access": "use"}
	must.Do(requester.expect(ctx, http.StatusOK, nil, http.MethodPost, "/api/v1/clusters/"+id+"/shares", share))
	var known v1.Me
	must.Do(workflow.expect(ctx, http.StatusOK, &known, http.MethodGet, "/api/v1/me", nil))
	must.FailIf(len(known.Seats) == 0, "the team's workflow has no role")
	tried := 0
	for what, numbers := range map[string]map[string]any{
		"the repository's name":           {"repository_id": "66001"},
		"the owner's name":                {"repository_id": "66002", "repository_owner_id": "66"},
		"the names, and tells no numbers": {"repository_id": nil, "repository_owner_id": nil},
	} {
		stranger := oidc.GitHubActions
		stranger.More = maps.Clone(stranger.More)
		for claim, number := range numbers {
			if stranger.More[claim] = number; number == nil {
				delete(stranger.More, claim)
			}
		}
		c := must.Get(t.as(stranger))
		var me v1.Me
		must.Do(c.expect(ctx, http.StatusOK, &me, http.MethodGet, "/api/v1/me", nil))
		got := must.Get(c.ask(ctx, http.MethodGet, "/api/v1/clusters/"+id, nil))
		opened := must.Get(c.ask(ctx, http.MethodGet, "/api/v1/clusters/"+id+"/kubeconfig", nil))
		throughIf(len(me.Seats) > 0 || got.status < 400 || opened.status < 400,
			"a workflow with %s has the roles %v, sees the cluster with %d and opens it with %d", what, me.Seats, got.status, opened.status)
		tried++
	}
	return held("%d workflows with names of the team's repository have no role, and nothing that was shared with its subject", tried)
}
