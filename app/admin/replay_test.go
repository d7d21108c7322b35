package admin_test

import (
	"io/fs"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/app/admin"
	"github.com/ocpctl/ocpctl/devstack/servicetest"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/profiles"
)

// changed returns the built-in catalogue's files with others.
func changed(t *testing.T, more map[string]string) map[string]string {
	t.Helper()
	files := map[string]string{}
	require.NoError(t, fs.WalkDir(profiles.EmbeddedFiles(), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		raw, err := fs.ReadFile(profiles.EmbeddedFiles(), path)
		files[path] = string(raw)
		return err
	}))
	for path, text := range more {
		files[path] = text
	}
	return files
}

func TestAChangedCatalogueIsJudgedOverPastRequests(t *testing.T) {
	h := servicetest.With(t, servicetest.Catalogue(t, nil))
	config := h.Config()
	office := admin.New(app.New(config), config)
	maya := policy.As("saml:maya", "maya", policy.Requester, "platform")
	rob := policy.As("saml:rob", "rob", policy.Requester, "platform")
	h.Create(maya, "one")
	h.Create(rob, "two")
	h.Create(rob, "three")

	strict := changed(t, map[string]string{
		"policies/names.yaml": "name: names\nrules:\n  - {name: no-two, when: \"request.name == 'two'\", effect: deny, message: Not two.}\n" +
			"  - {name: second, when: usage.person.live > 0, effect: requireApproval, message: A second one needs an approval.}\n",
	})
	said, err := office.ReplayCatalogue(t.Context(), will, strict, app.Origin{Source: policy.SourceAPI})
	require.NoError(t, err)
	require.Empty(t, said.Problems)
	require.Equal(t, "3 requests, 1 now refused, 1 now need approval", said.Headline())
	require.Zero(t, said.Uncounted)
	require.Len(t, said.Groups, 2)
	require.Equal(t, "rules names/no-two", said.Groups[0].Check)
	require.Equal(t, "Not two.", said.Groups[0].Examples[0].Message)
	require.Equal(t, "saml:rob", said.Groups[1].Examples[0].Principal, "what was used counts as it was then")
	require.Equal(t, []string{"platform"}, said.Groups[1].Teams)
	require.Contains(t, h.Query(`SELECT action FROM audit_events`), "catalogue.replayed")

	same, err := office.ReplayCatalogue(t.Context(), will, changed(t, nil), app.Origin{Source: policy.SourceAPI})
	require.NoError(t, err)
	require.Equal(t, "3 requests, none changes", same.Headline())

	_, err = office.ReplayCatalogue(t.Context(), maya, strict, app.Origin{Source: policy.SourceAPI})
	require.Equal(t, app.Denied, app.KindOf(err), "nobody else sees what others asked for")

	broken := changed(t, map[string]string{"policies/names.yaml": "name: names\nrules:\n  - {name: x, when: request.nam == '', effect: deny, message: x}\n"})
	said, err = office.ReplayCatalogue(t.Context(), will, broken, app.Origin{Source: policy.SourceAPI})
	require.NoError(t, err)
	require.Len(t, said.Problems, 1)
}

func TestACheckOfTheCatalogueNamesNoPeople(t *testing.T) {
	h := servicetest.With(t, servicetest.Catalogue(t, nil))
	config := h.Config()
	config.CatalogueIn = app.CatalogueHome{Repository: "acme/catalogue", Path: "files"}
	office := admin.New(app.New(config), config)
	h.Create(policy.As("saml:maya", "maya", policy.Requester, "platform"), "one")

	strict := changed(t, map[string]string{"policies/no.yaml": "name: no\nrules:\n  - {name: never, when: \"true\", effect: deny, message: Never.}\n"})
	run, err := office.CheckCatalogue(t.Context(), strict, true)
	require.NoError(t, err)
	require.Equal(t, "1 request, 1 now refused", run.Title)
	require.Equal(t, "neutral", run.Conclusion)
	require.Contains(t, run.Summary, "| now refused | `rules no/never` | 1 | 1 | `platform` |")
	require.NotContains(t, run.Summary, "maya")

	ofFork, err := office.CheckCatalogue(t.Context(), strict, false)
	require.NoError(t, err)
	require.Equal(t, "success", ofFork.Conclusion)
	require.NotContains(t, ofFork.Summary, "refused")

	broken := changed(t, map[string]string{"policies/no.yaml": "name: no\nrules:\n  - {name: never, when: sometimes, effect: deny, message: Never.}\n"})
	run, err = office.CheckCatalogue(t.Context(), broken, true)
	require.NoError(t, err)
	require.Equal(t, "failure", run.Conclusion)
	require.Equal(t, "files/policies/no.yaml", run.Annotations[0].Path)
	require.Equal(t, 3, run.Annotations[0].Line)
}
