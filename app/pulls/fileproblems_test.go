package pulls_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/profiles"
)

func TestAFileIsRemarkedOnByItselfAndThenByTheCatalogue(t *testing.T) {
	h := newFixture(t)
	const at = profiles.RepositoryFilePath
	require.Empty(t, h.Service.FileProblems([]byte("defaultProfile: aws-minimal-test\n")))
	require.Equal(t, []chatops.Annotation{
		{Path: at, Line: 2, Level: "failure", Title: "forks", Message: `"allow"; accepted: one of approve, deny`},
	}, h.Service.FileProblems([]byte("defaultProfile: nobodys\nforks: allow\n")), "a file that cannot be read holds no doubts")
	doubts := h.Service.FileProblems([]byte("\ndefaultProfile: nobodys\n"))
	require.Len(t, doubts, 1)
	require.Equal(t, []any{2, "warning", "defaultProfile"}, []any{doubts[0].Line, doubts[0].Level, doubts[0].Title})
	require.Contains(t, doubts[0].Message, `"nobodys", which matches no profile of the catalogue; accepted: aws-minimal-test`)
}

func TestOurLabelsAreOfWhatPeopleCanHaveByThemselves(t *testing.T) {
	h := newFixture(t)
	ours := func() (names []string) {
		labels, err := h.Service.OurLabels(t.Context(), 5001, repo)
		require.NoError(t, err)
		for _, l := range labels {
			names = append(names, l.Name)
		}
		return names
	}
	names := ours()
	require.Contains(t, names, "ocp/aws-minimal-test")
	require.Contains(t, names, chatops.KeepLabel)
	require.NotContains(t, names, "ocp/aws-minimal-mint", "an admin's")
	require.NotContains(t, names, "ocp/ibm-standard", "disabled")

	h.GitHub.Files = map[string]string{"HEAD": "profiles: [aws-standard]\n"}
	require.Contains(t, ours(), "ocp/aws-standard")
	require.NotContains(t, ours(), "ocp/aws-minimal-test", "the repository's file leaves it out")
}
