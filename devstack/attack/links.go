package attack

import (
	"context"
	"fmt"
	"net/http"
	"regexp"

	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/devstack/must"
	"github.com/ocpctl/ocpctl/devstack/oidc"
)

// linkStranger is an account of which no other attack comes: ocpctl stops answering somebody without permission who writes much.
const linkStranger = "link-stranger"

// linkAttacks are those of somebody who wants another person's rights by a link of accounts.
func linkAttacks() []attack {
	return []attack{
		{name: "link/sent-to-admin", who: "stranger on a pull request", tried: "have an admin confirm the link of the stranger's account, then guess the code", short: true, play: linkSentToAdmin},
		{name: "link/proof", who: "who reads a link, who sees GitHub's answer", tried: "Continue with GitHub by somebody else's link, state or code, a used one, or for an account that is linked", short: true, play: proofOfAnother},
	}
}

// linkHandle is the secret part of a link of an account in an answer.
var linkHandle = regexp.MustCompile(`/links/([A-Za-z0-9_-]{43})`)

// linkSentToAdmin has a stranger ask for a link, and an admin confirm it with the typed name.
func linkSentToAdmin(ctx context.Context, t *target) (result, error) {
	admin := must.Get(t.as(oidc.Admin))
	must.Do(t.GitHub.AddAccount(linkStranger, false))
	pr := must.Get(t.GitHub.Open("A stranger asks for a link", "maya"))
	must.Get(t.GitHub.Comment(pr, "/ocp link", linkStranger))
	bodies := must.Get(t.answers(ctx, pr, 1))
	handle := linkHandle.FindStringSubmatch(bodies[len(bodies)-1])
	if handle == nil {
		return result{}, fmt.Errorf("no link was answered: %.200s", bodies[len(bodies)-1])
	}
	var got v1.Redeemed
	must.Do(admin.expect(ctx, http.StatusOK, &got, http.MethodPost, "/api/v1/links/"+handle[1], v1.Redeem{Account: linkStranger}))
	guesses := []string{"AAAAA2", "BBBBB3", "CCCCC4", "DDDDD5", "EEEEE6"}
	for i, guess := range guesses {
		must.Get(t.GitHub.Comment(pr, "/ocp link "+guess, linkStranger))
		must.Get(t.answers(ctx, pr, 2+i))
	}
	must.Get(t.GitHub.Comment(pr, "/ocp create "+smallProfile, linkStranger))
	must.Get(t.answers(ctx, pr, 2+len(guesses)))
	var me v1.Me
	must.Do(admin.expect(ctx, http.StatusOK, &me, http.MethodGet, "/api/v1/me", nil))
	made := must.Get(t.count(ctx, "SELECT count(*) FROM clusters WHERE pr_number = $1", pr))
	waiting := must.Get(t.count(ctx, "SELECT count(*) FROM pending_links"))
	must.Do(t.GitHub.Close(pr, "maya"))
	throughIf(len(me.Accounts) > 0 || made > 0 || waiting > 0 || len(got.Code) == 0,
		"the admin has the accounts %v, the stranger has %d clusters, %d links still wait for a code", me.Accounts, made, waiting)
	return held("the admin confirmed it, %d guesses of the code were refused and ended it, and the stranger has no rights", len(guesses))
}
