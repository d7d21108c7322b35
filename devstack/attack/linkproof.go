package attack

import (
	"context"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/app/web"
	"github.com/ocpctl/ocpctl/devstack/must"
	"github.com/ocpctl/ocpctl/devstack/oidc"
)

// The people of the attack on Continue with GitHub: the owner has one login everywhere.
const (
	proofOwner       = "ada"
	proofAttacker    = "rob"  // at the identity provider
	attackersAccount = "rita" // on GitHub
)

// proof is somebody's browser on its way through Continue with GitHub.
type proof struct {
	*http.Client
	t      *target
	begun  []*http.Cookie // the cookie that binds the proof to the browser
	wanted url.Values     // the request with which GitHub is asked
}

// newProver is the browser of somebody who is signed in.
func (t *target) newProver(ctx context.Context, login string) (*proof, error) {
	browser := must.Get(newBrowser())
	form := must.Get(t.samlAnswer(ctx, browser, "/", login, nil))
	if ok, err := t.signsIn(ctx, browser, form); err != nil || !ok {
		return nil, fmt.Errorf("%s cannot sign in: %w", login, err)
	}
	return &proof{Client: browser, t: t}, nil
}

func (p *proof) home() *url.URL { return must.Get(url.Parse(p.t.PrivateURL() + "/")) }

func (p *proof) request(ctx context.Context, method, at string, form url.Values) (answer, error) {
	r, err := http.NewRequestWithContext(ctx, method, at, strings.NewReader(form.Encode()))
	if err != nil {
		return answer{}, err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	return send(p.Client, r)
}

var onwardToGitHub = regexp.MustCompile(`class="button" href="([^"]+)"`)

// begin presses Continue with GitHub on a link's page.
func (p *proof) begin(ctx context.Context, handle string) error {
	got := must.Get(p.request(ctx, http.MethodPost, p.t.PrivateURL()+"/links/"+handle, url.Values{"with": {"github"}}))
	to := onwardToGitHub.FindSubmatch(got.body)
	if got.status != http.StatusOK || to == nil {
		return fmt.Errorf("the link's page leads with %d to no GitHub: %.200s", got.status, got.body)
	}
	at := must.Get(url.Parse(html.UnescapeString(string(to[1]))))
	p.wanted = at.Query()
	for _, c := range p.Jar.Cookies(p.home()) {
		if strings.Contains(c.Name, "proof") {
			p.begun = []*http.Cookie{{Name: c.Name, Value: c.Value, Path: "/"}}
		}
	}
	return nil
}

// confirm confirms on GitHub, as somebody there, what was begun, and returns what GitHub sends back.
func (p *proof) confirm(ctx context.Context, login string) (url.Values, error) {
	got := must.Get(p.request(ctx, http.MethodPost, p.t.GitHub.URL()+"/login/oauth/authorize", url.Values{"query": {p.wanted.Encode()}, "login": {login}}))
	at, err := url.Parse(got.header.Get("Location"))
	if err != nil || at.Query().Get("code") == "" {
		return nil, fmt.Errorf("GitHub answers %d and leads to %q: %w", got.status, got.header.Get("Location"), err)
	}
	return at.Query(), nil
}

// comeBack opens the page to which GitHub leads, and reports whether that linked the account.
func (p *proof) comeBack(ctx context.Context, sent url.Values) (bool, error) {
	got, err := p.request(ctx, http.MethodGet, p.t.PrivateURL()+web.ProofPath+"?"+sent.Encode(), nil)
	return got.status < http.StatusBadRequest, err
}

// proofOfAnother tries to get another person's account linked, or one's own rights into another's hands, on the way over GitHub.
func proofOfAnother(ctx context.Context, t *target) (result, error) {
	pr := must.Get(t.GitHub.Open("An owner asks for links", "maya"))
	handles := 0
	askLink := func() string {
		must.Get(t.GitHub.Comment(pr, "/ocp link", proofOwner))
		handles++
		bodies := must.Get(t.answers(ctx, pr, handles))
		return linkHandle.FindStringSubmatch(bodies[len(bodies)-1])[1]
	}
	owner, attacker := must.Get(t.newProver(ctx, proofOwner)), must.Get(t.newProver(ctx, proofAttacker))
	handle := askLink()
	tries := []struct {
		what string
		try  func() (bool, error)
	}{
		{"the owner's link, confirmed as oneself", func() (bool, error) {
			must.Do(attacker.begin(ctx, handle))
			return attacker.comeBack(ctx, must.Get(attacker.confirm(ctx, attackersAccount)))
		}},
		{"the attacker's answer of GitHub, opened by the owner", func() (bool, error) {
			must.Do(attacker.begin(ctx, handle))
			return owner.comeBack(ctx, must.Get(attacker.confirm(ctx, attackersAccount)))
		}},
		{"the owner's answer of GitHub, opened by the attacker", func() (bool, error) {
			must.Do(owner.begin(ctx, handle))
			return attacker.comeBack(ctx, must.Get(owner.confirm(ctx, proofOwner)))
		}},
		{"the same with the owner's cookie of the proof", func() (bool, error) {
			must.Do(owner.begin(ctx, handle))
			sent := must.Get(owner.confirm(ctx, proofOwner))
			attacker.Jar.SetCookies(attacker.home(), owner.begun)
			return attacker.comeBack(ctx, sent)
		}},
		{"the owner's code under the attacker's state", func() (bool, error) {
			must.Do(owner.begin(ctx, handle))
			code := must.Get(owner.confirm(ctx, proofOwner)).Get("code")
			must.Do(attacker.begin(ctx, handle))
			return attacker.comeBack(ctx, url.Values{"code": {code}, "state": {attacker.wanted.Get("state")}})
		}},
	}
	for _, one := range tries {
		if linked := must.Get(one.try()); linked {
			return through("%s links an account", one.what)
		}
	}
	must.Do(owner.begin(ctx, handle))
	sent := must.Get(owner.confirm(ctx, proofOwner))
	must.FailIf(!must.Get(owner.comeBack(ctx, sent)), "the owner cannot link the own account")
	begun := owner.begun
	handle = askLink()
	used := map[string]func() (bool, error){
		"the same answer of GitHub once more":                    func() (bool, error) { return owner.comeBack(ctx, sent) },
		"the same answer, with the cookie of the proof put back": func() (bool, error) { owner.Jar.SetCookies(owner.home(), begun); return owner.comeBack(ctx, sent) },
		"the used code under a new state": func() (bool, error) {
			must.Do(owner.begin(ctx, handle))
			return owner.comeBack(ctx, url.Values{"code": sent["code"], "state": {owner.wanted.Get("state")}})
		},
		"an account that is linked, confirmed in another session": func() (bool, error) {
			must.Do(attacker.begin(ctx, handle))
			return attacker.comeBack(ctx, must.Get(attacker.confirm(ctx, proofOwner)))
		},
	}
	for what, try := range used {
		if linked := must.Get(try()); linked {
			return through("%s links an account", what)
		}
	}
	must.Do(t.GitHub.Close(pr, "maya"))
	linked := must.Get(t.count(ctx, "SELECT count(*) FROM accounts WHERE account LIKE 'github:%'"))
	theirs := must.Get(t.count(ctx, "SELECT count(*) FROM accounts WHERE principal LIKE $1", "%"+proofOwner+"%"))
	throughIf(linked != 1 || theirs != 1, "%d accounts are linked, %d of them to their owner", linked, theirs)
	got := must.Get(owner.request(ctx, http.MethodPost, t.PrivateURL()+"/me/unlink", url.Values{"account": {"github:" + proofOwner}})) // what follows counts on nobody's link
	must.FailIf(got.status != http.StatusSeeOther, "the owner cannot unlink the account: %d", got.status)
	return held("%d tries by links, states and codes of others and by used ones link nothing; the owner's own way does", len(tries)+len(used))
}

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
