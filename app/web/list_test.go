package web

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheListIsNarrowedByItsAddress(t *testing.T) {
	b := newBrowser(t)
	b.signIn("maya")
	shop, pear := b.accept("shop", "platform"), b.accept("pear", "platform")
	has := func(page string, names ...string) {
		t.Helper()
		for id, name := range map[string]string{shop.ID: "shop", pear.ID: "pear"} {
			require.Equal(t, len(names) > 0 && (names[0] == name || len(names) > 1), strings.Contains(page, `href="/clusters/`+id), name)
		}
	}
	for text, want := range map[string][]string{"": {"shop", "pear"}, "pear": {"pear"}, "-pear": {"shop"}, "team:platform sort:name": {"shop", "pear"}, "status:ready": nil, "team:security": nil} {
		_, page, _ := b.get(listAddress(text, false, ""))
		has(page, want...)
		require.Equal(t, len(want) == 0, strings.Contains(page, "No cluster matches"), text)
	}

	_, page, answer := b.get("/clusters?q=pear&team=platform&status=&sort=name") // chosen instead of typed
	require.Equal(t, "q=pear+team%3Aplatform+sort%3Aname", answer.Request.URL.RawQuery)
	has(page, "pear")
	require.Contains(t, page, `value="pear team:platform sort:name"`)
	require.Contains(t, page, `<option value="platform" selected>`)
	require.Contains(t, page, `aria-sort="ascending"`)

	_, page, _ = b.get("/clusters?q=stauts%3Aready")
	require.Contains(t, page, "There is no filter stauts:. Did you mean status:ready?")
	require.Contains(t, page, `value="stauts:ready"`, "it is kept in the box")
	has(page)
}

func TestAViewIsSavedForOneself(t *testing.T) {
	b := newBrowser(t)
	b.signIn("maya")
	status, page, answer := b.post("/views", url.Values{"name": {"Payments, ready"}, "query": {"q=team%3Apayments+ready&show=all&cursor=x&evil=1"}})
	require.Equal(t, http.StatusOK, status)
	require.Equal(t, "q=team%3Apayments+ready&show=all", answer.Request.URL.RawQuery)
	require.Contains(t, page, "Saved as Payments, ready.")
	require.Contains(t, page, `<a class="own" href="/clusters?q=team%3Apayments&#43;ready&amp;show=all" aria-current="page">Payments, ready</a>`)
	_, start, _ := b.get("/")
	require.Contains(t, start, `<a class="own" href="/clusters?q=team%3Apayments&#43;ready&amp;show=all">Payments, ready</a>`)
	_, page, _ = b.post("/views", url.Values{"name": {" "}})
	require.Contains(t, page, "Give the view a name")
	b.signIn("will")
	_, page, _ = b.get("/clusters")
	require.NotContains(t, page, "Payments, ready")
	b.signIn("maya")
	_, page, _ = b.post("/views/drop", url.Values{"name": {"Payments, ready"}})
	require.NotContains(t, page, `class="own"`)
}
