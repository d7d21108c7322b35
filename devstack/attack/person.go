package attack

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/devstack/attack/matrix"
	"github.com/ocpctl/ocpctl/devstack/must"
	"github.com/ocpctl/ocpctl/devstack/oidc"
	"github.com/ocpctl/ocpctl/devstack/pick"
	"github.com/ocpctl/ocpctl/devstack/saml"
)

// personAttacks are those of people who may sign in: a member of a team, a team's admin, a neighbour on the network.
func personAttacks() []attack {
	return append(tagAttacks(), []attack{
		{name: "person/dry-run", who: "requester", tried: "a dry run with 5,500 unknown fields", short: true, play: expensiveDryRun},
		{name: "person/mint", who: "admin of one team", tried: "grant break-glass on a Mint cluster that they may not open", play: mintBreakGlass},
		{name: "person/own-approval", who: "platform admin", tried: "approve what they asked for themselves", play: ownApproval},
		{name: "person/prefill", who: "another site", tried: "a link to the form with an SSH key and tags of the attacker's", short: true, play: prefilled},
		{name: "person/said", who: "a neighbour host", tried: "plant a message in the cookie that says what came of a form", short: true, play: plantedMessage},
		{name: "person/logout", who: "whoever copied a cookie", tried: "go on with the session after its owner signed out", short: true, play: afterLogout},
		{name: "person/storage-address", who: "requester", tried: "learn from the outputs where credentials are stored", play: storageAddress},
		{name: "person/silent-read", who: "requester of another team, auditor", tried: "be refused a kubeconfig without a line in the audit trail", play: silentRead},
	}...)
}

// cpu returns the server's CPU time so far.
func (t *target) cpu() (_ time.Duration, err error) {
	defer must.Catch(&err)
	raw := must.Get(os.ReadFile(fmt.Sprintf("/proc/%d/stat", t.ServerPID())))
	_, rest, _ := strings.Cut(string(raw), ") ")
	fields := strings.Fields(rest)
	if len(fields) < 13 {
		return 0, fmt.Errorf("/proc/%d/stat has %d fields", t.ServerPID(), len(fields))
	}
	const tick = 10 * time.Millisecond // USER_HZ is 100 on Linux
	user := must.Get(strconv.ParseInt(fields[11], 10, 64))
	system, err := strconv.ParseInt(fields[12], 10, 64)
	return time.Duration(user+system) * tick, err
}

func expensiveDryRun(ctx context.Context, t *target) (result, error) {
	var body strings.Builder
	body.WriteString(`{"name":"x"`)
	for i := range 5500 {
		fmt.Fprintf(&body, `,"f%04d":0`, i)
	}
	body.WriteString("}")
	c := must.Get(t.as(attacker))
	before := must.Get(t.cpu())
	began := time.Now()
	got := must.Get(c.ask(ctx, http.MethodPost, "/api/v1/dry-run", []byte(body.String())))
	after := must.Get(t.cpu())
	text := fmt.Sprintf("%d bytes were answered %d with %d bytes after %s, the server used %s of processor time",
		body.Len(), got.status, len(got.body), time.Since(began).Round(10*time.Millisecond), after-before)
	throughIf(len(got.body) > 100<<10 || time.Since(began) > 3*time.Second, "%s", text)
	return held("%s", text)
}

// mintBreakGlass requests the password of a cluster that holds the control plane's own keys, in a team whose admin approves.
func mintBreakGlass(ctx context.Context, t *target) (result, error) {
	admin := must.Get(t.as(oidc.Admin))
	team := must.Get(t.as(matrix.Claims()[matrix.TeamAdmin]))
	id := must.Get(admin.createFrom(ctx, v1.CreateRequest{Name: "minted", Profile: "aws-minimal-mint", Team: matrix.OwnTeam}))
	must.Get(t.becomes(ctx, id, "ready"))
	if got, err := team.ask(ctx, http.MethodGet, "/api/v1/clusters/"+id+"/kubeconfig", nil); err != nil || got.status < 400 {
		return through("the team's admin downloaded the kubeconfig itself: %d %v", got.status, err)
	}
	var asked struct{ ApprovalID string }
	must.Do(admin.expect(ctx, http.StatusAccepted, &asked, http.MethodPost, "/api/v1/clusters/"+id+"/break-glass", map[string]string{"reason": "x"}))
	got := must.Get(team.ask(ctx, http.MethodPost, "/api/v1/approvals/"+asked.ApprovalID+"/approve", struct{}{}))
	must.Do(admin.destroy(ctx, id))
	throughIf(got.status < 300, "the approval of the team's admin was answered %d", got.status)
	return held("the approval of the team's admin was answered %d", got.status)
}

func ownApproval(ctx context.Context, t *target) (result, error) {
	admin := must.Get(t.as(oidc.Admin))
	var made v1.Accepted
	must.Do(admin.expect(ctx, http.StatusAccepted, &made, http.MethodPost, "/api/v1/clusters",
		v1.CreateRequest{Name: "own-word", Profile: "aws-standard", TTLHours: 101, Team: matrix.OwnTeam}, "Idempotency-Key", "own-word"))
	must.FailIf(made.ApprovalID == "", "the cluster waits for no approval: %s", made.Message)
	got := must.Get(admin.ask(ctx, http.MethodPost, "/api/v1/approvals/"+made.ApprovalID+"/approve", struct{}{}))
	must.Do(admin.destroy(ctx, made.ClusterID))
	throughIf(got.status < 300, "an approval of one vote was given by who asked: %d", got.status)
	return held("the own vote was answered %d", got.status)
}

// page opens a page as somebody with the issuer's claims; cookies are sent besides the session.
func (t *target) page(ctx context.Context, who oidc.Claims, at string, cookies ...string) (answer, error) {
	c, err := t.as(who)
	if err != nil {
		return answer{}, err
	}
	got, err := patient(ctx, func() (answer, error) { return c.browse(ctx, http.MethodGet, at, nil) })
	if err != nil || len(cookies) == 0 {
		return got, err
	}
	token := strings.TrimPrefix(c.header.Get("Authorization"), "Bearer ")
	return t.nobody().ask(ctx, http.MethodGet, at, nil, "Cookie", sessionCookie+"="+token+"; "+strings.Join(cookies, "; "))
}

func prefilled(ctx context.Context, t *target) (result, error) {
	const key, tag = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIPlantedPlantedPlantedPlantedPlantedPlante", "planted-tag"
	query := url.Values{"sshPublicKey": {key}, "extraTags": {tag + "=planted"}, "name": {"planted-name"}}
	got := must.Get(t.page(ctx, attacker, "/new?"+query.Encode()))
	must.FailIf(got.status != http.StatusOK, "the form was answered %d", got.status)
	var found []string
	for what, value := range map[string]string{"the SSH key": "IPlantedPlanted", "the tags": tag} {
		if strings.Contains(string(got.body), value) {
			found = append(found, what)
		}
	}
	if len(found) > 0 {
		slices.Sort(found)
		return through("the link filled in %s", strings.Join(found, " and "))
	}
	return held("neither the SSH key nor the tags were filled in")
}

func plantedMessage(ctx context.Context, t *target) (result, error) {
	const text = "Your session ended. Sign in again at evil.example"
	raw := must.Get(json.Marshal(map[string]any{"w": text}))
	value := base64.RawURLEncoding.EncodeToString(raw)
	for _, cookie := range []string{"ocpctl_said=" + value, "__Host-ocpctl_said=" + value, "ocpctl_said=" + value + ".x", "ocpctl_said=" + value + "." + strings.Repeat("A", 86)} {
		got := must.Get(t.page(ctx, attacker, "/", cookie))
		must.FailIf(got.status != http.StatusOK, "the front page was answered %d", got.status)
		throughIf(strings.Contains(string(got.body), "evil.example"), "the page shows the text of the cookie %.20s…", cookie)
	}
	return held("4 unsigned cookies, none of them shown")
}

// session signs one of the demo's people in, as a browser does, and returns the cookies.
func (t *target) session(ctx context.Context, login string) (_ *http.Client, _ []*http.Cookie, err error) {
	defer must.Catch(&err)
	jar := must.Get(cookiejar.New(nil))
	browser := &http.Client{Jar: jar, Timeout: 30 * time.Second}
	must.Do(saml.SignIn(ctx, browser, t.PrivateURL(), login, "demo-"+login, "/"))
	home := must.Get(url.Parse(t.PrivateURL()))
	return browser, jar.Cookies(home), nil
}

func afterLogout(ctx context.Context, t *target) (result, error) {
	browser, cookies := must.Get2(t.session(ctx, "maya"))
	copied := pick.Map(cookies, func(c *http.Cookie) string { return c.Name + "=" + c.Value })
	use := func() (answer, error) {
		return t.nobody().ask(ctx, http.MethodGet, "/me", nil, "Cookie", strings.Join(copied, "; "))
	}
	if got, err := use(); err != nil || got.status != http.StatusOK {
		return result{}, fmt.Errorf("the copied cookie was answered %d before the sign-out: %w", got.status, err)
	}
	r := must.Get(http.NewRequestWithContext(ctx, http.MethodPost, t.PrivateURL()+"/logout", http.NoBody))
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	must.Get(send(browser, r))
	got := must.Get(use())
	throughIf(got.status == http.StatusOK, "the copied cookie opens /me after its owner signed out")
	return held("the copied cookie was answered %d after its owner signed out", got.status)
}

func storageAddress(ctx context.Context, t *target) (result, error) {
	v := must.Get(t.victimOf(ctx))
	owner := must.Get(t.as(victim))
	auditor := must.Get(t.as(oidc.Auditor))
	for _, at := range []string{"/outputs", ""} {
		for _, c := range []caller{owner, auditor} {
			got := must.Get(c.ask(ctx, http.MethodGet, "/api/v1/clusters/"+v.ID+at, nil))
			if i := strings.Index(string(got.body), "s3://"); i >= 0 {
				return through("GET …%s answers %.80q", at, got.body[i:])
			}
		}
	}
	return held("neither the cluster nor its outputs show a storage address")
}

func silentRead(ctx context.Context, t *target) (result, error) {
	v := must.Get(t.victimOf(ctx))
	for _, who := range []oidc.Claims{attacker, oidc.Auditor} {
		c := must.Get(t.as(who))
		got := must.Get(c.ask(ctx, http.MethodGet, "/api/v1/clusters/"+v.ID+"/kubeconfig", nil))
		throughIf(got.status < 400, "%s downloaded the victim's kubeconfig", who.Subject)
		n := must.Get(t.count(ctx, "SELECT count(*) FROM audit_events WHERE actor = $1 AND target_cluster_id = $2", t.idOf(who), v.ID))
		throughIf(n == 0, "%s was refused the kubeconfig with %d, and the audit trail has no line of it", who.Subject, got.status)
	}
	return held("both were refused and the audit trail has a line for each")
}
