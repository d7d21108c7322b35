package devstack_test

import (
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/devstack"
	"github.com/ocpctl/ocpctl/devstack/github"
)

// A change of the catalogue is checked on its pull request by what people asked for, and proposed from a page, end to end.
func TestAChangeOfTheCatalogueIsReplayedAndProposed(t *testing.T) {
	l := newLifeOf(t, devstack.Config{Hour: time.Hour})
	home := l.GitHub.In(github.SecondRepo)
	l.requested("one", "one")
	refusing := "name: strict\nrules:\n  - {name: nobody, when: \"request.source == 'api'\", effect: deny, message: Not by the API.}\n"

	number, err := home.Open("Stricter rules", "maya")
	require.NoError(t, err)
	require.NoError(t, home.PushFile(number, "catalogue/policies/strict.yaml", refusing, "maya"))
	check := func(title string) github.Check {
		t.Helper()
		var found github.Check
		l.runUntil("the check says "+title, time.Minute, func() bool {
			for _, one := range home.Checks(number) {
				if one.Name == chatops.CatalogueCheckName && strings.Contains(one.Title, title) {
					found = one
					return true
				}
			}
			return false
		})
		return found
	}
	said := check("1 request, 1 now refused")
	require.Equal(t, "neutral", said.Conclusion)
	require.Contains(t, said.Summary, "`rules strict/nobody`")
	require.NotContains(t, said.Summary, "maya")

	require.NoError(t, home.PushFile(number, "catalogue/policies/strict.yaml", strings.Replace(refusing, "request.source", "request.sauce", 1), "maya"))
	broken := check("The catalogue has")
	require.Equal(t, "failure", broken.Conclusion)
	require.Equal(t, "catalogue/policies/strict.yaml", broken.Annotations[0].Path)

	files := map[string]string{"policies/strict.yaml": refusing}
	paths, err := fs.Glob(os.DirFS(l.Dir), "catalogue/*/*.yaml")
	require.NoError(t, err)
	for _, path := range paths {
		raw, err := os.ReadFile(filepath.Join(l.Dir, path))
		require.NoError(t, err)
		files[strings.TrimPrefix(path, "catalogue/")] = string(raw)
	}
	replay := ask[v1.CatalogueReplay](l.as("admin"), http.MethodPost, "/api/v1/catalogue/what-if", v1.CatalogueFiles{Files: files}, http.StatusOK)
	require.Equal(t, 1, replay.Refused)
	l.as("requester").refused(http.MethodPost, "/api/v1/catalogue/what-if", v1.CatalogueFiles{Files: files}, http.StatusForbidden)

	will := l.signIn("will")
	_, _, page := will.visit("/policy/propose", url.Values{"file": {"policies/strict.yaml"}, "document": {refusing}, "title": {"Refuse the API"}})
	require.Contains(t, page, "The pull request is being opened.")
	again := regexp.MustCompile(`/policy/propose\?asked=eff_[0-9A-Z]+`).FindString(page)
	l.runUntil("the pull request is open", time.Minute, func() bool {
		require.NotContains(t, page, "could not be opened")
		if !strings.Contains(page, "Done: pull request #") { // it may be open at the first look
			require.NotEmpty(t, again)
			_, _, page = will.visit(again, nil)
		}
		return strings.Contains(page, "Done: pull request #")
	})
	number++
	opened, _ := home.PullRequest(number)
	require.True(t, opened.Open)
	require.Equal(t, "Refuse the API", opened.Title)
	require.Regexp(t, "(?i)proposed by will", opened.Body)
	document, there := home.FileAt(opened.HeadSHA, "catalogue/policies/strict.yaml")
	require.True(t, there)
	require.Equal(t, refusing, document)
	require.Equal(t, "neutral", check("1 request, 1 now refused").Conclusion)
}
