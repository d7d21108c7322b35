package web

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/clusters"
)

// filledIn is the form as its page shows it, with a name and the given fields.
func (b *browser) filledIn(fields url.Values) url.Values {
	b.Helper()
	status, page, _ := b.get("/new")
	require.Equal(b, http.StatusOK, status)
	form := url.Values{"key": {b.field(page, "key")}, "do": {"create"}, "name": {"shop-smoke"}, "profile": {"aws-minimal-test"}, "team": {"platform"}}
	maps.Copy(form, fields)
	return form
}

func (h *fixture) clusters() []clusters.Row {
	h.Helper()
	rows, _, err := h.store.List(h.Context(), store.Filter{})
	require.NoError(h, err)
	return rows
}

func TestTheFormOffersWhatProfileAndTeamAllowAndShowsWhatIsLocked(t *testing.T) {
	h := newFixture(t)
	_, page, _ := h.as("zoe").get("/new?profile=aws-standard&team=platform")
	for _, want := range []string{
		`<option value="aws-standard" selected>AWS standard</option>`, `<option value="us-east-1" selected>us-east-1, $1.48/h</option>`,
		`<option selected>4.20.3</option>`, `<option selected>platform</option>`, `<option>platform-ci</option>`, `<option>staging</option>`, "at most 7 d",
		"IBM Cloud minimal test (off)", "3 × m6i.xlarge; 3 × m6i.xlarge workers, scalable from 0 to 3", "<code>TTLExpiry</code>",
	} {
		require.Contains(t, page, want)
	}
	require.NotContains(t, page, "aws-minimal-mint", "it is for admins")
	require.Regexp(t, `name="name" value="zoe-[a-z2-7]{5}"`, page, "a name is proposed")
	_, page, _ = h.as("will").get("/new?profile=aws-minimal-mint&team=payments")
	require.Contains(t, page, `<option value="aws-minimal-mint" selected>AWS minimal, minted keys (admins only)</option>`)
	require.Equal(t, 2, strings.Count(page, `<option selected>payments</option>`), "the team, and its first cost center")

	b := h.as("zoe")
	_, page, _ = b.post("/new", b.filledIn(url.Values{"do": {"choices"}, "profile": {"aws-standard"}, "team": {"payments"}, "owner": {"rob"}}))
	for _, want := range []string{`<option value="aws-standard" selected>`, `<option selected>payments</option>`, `value="shop-smoke"`, `value="rob"`} {
		require.Contains(t, page, want)
	}
	require.Empty(t, h.clusters())
}

func TestAFormMakesAClusterAndLeadsToIt(t *testing.T) {
	h := newFixture(t)
	b := h.as("maya")
	status, page, answer := b.post("/new", b.filledIn(url.Values{
		"ttl": {"12"}, "region": {"us-east-2"}, "costCenter": {"platform-ci"}, "environment": {"staging"}, "extraTags": {"Purpose = smoke\r\n\r\nTicket=OPS-7"},
	}))
	require.Equal(t, http.StatusOK, status, says(page))
	require.Len(t, h.clusters(), 1)
	row := h.clusters()[0]
	require.Equal(t, "/clusters/"+row.ID, answer.Request.URL.Path)
	require.Equal(t, "Accepted.", says(page))
	require.Equal(t, []string{"shop-smoke", "us-east-2", "platform-ci", "staging", "Maya", string(policy.SourceWeb)},
		[]string{row.Name, row.Region, row.CostCenter, row.Environment, row.Owner, row.Source})
	require.Equal(t, []string{"smoke", "OPS-7"}, []string{row.Tags["Purpose"], row.Tags["Ticket"]})
}

func TestTwoClicksMakeOneClusterAndAChangedFormAnother(t *testing.T) {
	h := newFixture(t)
	b := h.as("maya")
	form := b.filledIn(nil)
	var clicks sync.WaitGroup
	for range 4 {
		clicks.Go(func() {
			answer, err := b.PostForm(b.base+"/new", form)
			if err == nil {
				_ = answer.Body.Close()
			}
		})
	}
	clicks.Wait()
	require.Len(t, h.clusters(), 1)
	_, page, answer := b.post("/new", form)
	require.Equal(t, "/clusters/"+h.clusters()[0].ID, answer.Request.URL.Path, "the same answer")
	require.Equal(t, "Accepted.", says(page))

	form.Set("name", "shop-again") // back, and sent with another name
	b.post("/new", form)
	require.Len(t, h.clusters(), 2)
}

func TestEverythingThatIsWrongIsShownAtItsFieldAndValuesAreKept(t *testing.T) {
	h := newFixture(t)
	b := h.as("maya")
	for _, do := range []string{"check", "create"} {
		status, page, _ := b.post("/new", b.filledIn(url.Values{
			"do": {do}, "name": {"Shop.One"}, "ttl": {"a day"}, "region": {"eu-west-9"}, "team": {"payments"}, "costCenter": {"gold"},
			"sshPublicKey": {"hello"}, "extraTags": {"nonsense\nOwner=me"}, "owner": {`<script>alert(1)</script>`},
		}))
		require.Equal(t, map[string]int{"check": http.StatusOK, "create": http.StatusUnprocessableEntity}[do], status)
		for field, want := range map[string]string{
			"name": "up to 21 characters", "ttl": "&#34;a day&#34; is not a duration. Accepted: 90m, 4h, 1h30m, 2d, or a number of hours.", "region": "us-east-2",
			"team": "payments", "sshPublicKey": "not a public key", "extraTags": "&#34;nonsense&#34; is not a tag", "owner": "cannot be a tag",
		} {
			require.Contains(t, page, `id="wrong-`+field+`"`, do)
			_, after, _ := strings.Cut(page, `id="wrong-`+field+`"`)
			text, _, _ := strings.Cut(after, "</div>")
			require.Contains(t, text, want, "%s: %s", do, field)
		}
		for _, kept := range []string{`value="Shop.One"`, `value="a day"`, ">hello</textarea>", "nonsense\nOwner=me", "&lt;script&gt;alert(1)"} {
			require.Contains(t, page, kept)
		}
		require.NotContains(t, page, "<script>alert")
	}
	require.Empty(t, h.clusters())
}

func TestTheFormRefusesTagsThatSteerATeardown(t *testing.T) {
	h := newFixture(t)
	b := h.as("maya")
	for _, key := range []string{"openshiftClusterID", "sigs.k8s.io/cluster-api-provider-aws/cluster/pr41-shop-x7k2p", "OCPCTL-x"} {
		status, page, _ := b.post("/new", b.filledIn(url.Values{"extraTags": {key + "=owned"}}))
		require.Equal(t, http.StatusUnprocessableEntity, status, key)
		require.Contains(t, page, `id="wrong-extraTags"`, key)
	}
	require.Empty(t, h.clusters())
}

func TestACheckShowsVerdictAndPriceAndMakesNothing(t *testing.T) {
	h := newFixture(t)
	b := h.as("maya")
	_, page, _ := b.post("/new", b.filledIn(url.Values{"do": {"check"}, "ttl": {"60"}}))
	for _, want := range []string{
		"It would be accepted", "about $0.74 an hour, $44.40 until its planned end", "starts when it is approved", "More than two days take a platform admin&#39;s word.",
		"needs approval", "Maya has 0 of the 8 clusters", "Checked against catalogue",
	} {
		require.Contains(t, page, want)
	}
	require.Empty(t, h.clusters())
}

func TestATakenNameIsSaidAtTheName(t *testing.T) {
	h := newFixture(t)
	b := h.as("maya")
	b.post("/new", b.filledIn(nil))
	status, page, _ := b.post("/new", b.filledIn(nil))
	require.Equal(t, http.StatusConflict, status)
	require.Contains(t, page, `id="wrong-name"><p>The name shop-smoke is taken on labs.example.com.`)
	_, page, _ = b.post("/new", b.filledIn(url.Values{"do": {"check"}}))
	require.Contains(t, page, "It would be refused", "a check finds it, too")
	require.Contains(t, page, `id="wrong-name"><p>The name shop-smoke is taken on labs.example.com.`)
	require.Len(t, h.clusters(), 1)
}

func TestACheckSaysThePlaceInLine(t *testing.T) {
	h := newFixture(t)
	b := h.as("maya")
	for i := range 3 {
		h.make("maya", fmt.Sprintf("shop-%d", i), "platform", 8)
	}
	_, page, _ := b.post("/new", b.filledIn(url.Values{"do": {"check"}}))
	require.Contains(t, page, "It would be number 1 in the queue; when it could start is not known.", "no cluster has given its place up yet")
}

func TestAClusterThatIsGoneHasItsPageByItsName(t *testing.T) {
	h := newFixture(t)
	row := h.make("maya", "shop-old", "platform", 8).Row
	h.sql(`UPDATE clusters SET status = 'DESTROYED', phase = 'released', desired = 'absent', desired_why = '{"code":"other","words":"x"}', teardown = 'DESTROY', destroyed_at = now() WHERE id = $1`, row.ID)
	b := h.as("maya")
	status, page, _ := b.get("/clusters/shop-old")
	require.Equal(t, http.StatusOK, status)
	require.Contains(t, page, row.ID)
	_, page, _ = b.post("/clusters/shop-old/destroy", url.Values{})
	require.Contains(t, page, "shop-old was destroyed: nothing has been left of it since ")
}

func TestARefusalIsShownWithItsTreeAndAgainForTheSecondClick(t *testing.T) {
	h := newFixture(t)
	b := h.as("will")
	form := b.filledIn(url.Values{"profile": {"aws-standard"}, "ttl": {"168"}, "team": {"platform"}})
	h.sql(`UPDATE clusters SET hourly_cents = 0`)
	for range 4 { // the fifth is one too many for the team's quota
		h.make("zoe", "c"+freshKey()[:6], "platform", 2)
	}
	status, page, _ := b.post("/new", form)
	require.Equal(t, http.StatusUnprocessableEntity, status)
	require.Contains(t, page, "It would be refused")
	require.Contains(t, page, "Team platform has ")
	require.NotEqual(t, form.Get("key"), b.field(page, "key"), "what is asked for next is another thing")
	status, page, _ = b.post("/new", form)
	require.Equal(t, http.StatusUnprocessableEntity, status)
	require.Contains(t, page, "Team platform has ")
	require.Len(t, h.clusters(), 4)
}

func TestAPersonPicksAddonsAmongThoseOfTheProfile(t *testing.T) {
	h := newFixture(t)
	b := h.as("maya")
	_, page, _ := b.get("/new?profile=aws-standard")
	require.Contains(t, page, `<input type="hidden" name="addonsFor" value="aws-standard">`)
	require.Contains(t, page, `<input type="checkbox" name="addons" value="cert-manager"> cert-manager: `)
	form := b.filledIn(url.Values{"profile": {"aws-standard"}, "addonsFor": {"aws-standard"}, "addons": {"cert-manager", "pr-namespace"}})
	status, page, _ := b.post("/new", form)
	require.Equal(t, http.StatusOK, status, says(page))
	require.Equal(t, []string{"cert-manager", "pr-namespace"}, h.clusters()[0].Addons)

	form.Set("name", "shop-other")
	form["addons"] = []string{"cert-manger"}
	status, page, _ = b.post("/new", form)
	require.Equal(t, http.StatusUnprocessableEntity, status)
	require.Contains(t, page, `id="wrong-addons"><p>There is no add-on &#34;cert-manger&#34;, which the request picks.`)
}
