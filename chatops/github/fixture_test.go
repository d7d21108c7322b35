package github

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	standin "github.com/ocpctl/ocpctl/devstack/github"
)

func TestALookSeesWhatTheOtherCallTells(t *testing.T) {
	server, c := start(t)
	require.NoError(t, server.Label(41, "ocp/aws-standard", "maya"))
	require.NoError(t, server.SetDraft(42, true, "maya"))
	require.NoError(t, server.Merge(43, "maya"))
	require.NoError(t, server.Close(44, "maya"))
	refs := []PullRef{{standin.Repo, 99}, {"acme/nothing", 41}}
	for n := 41; n <= 49; n++ {
		refs = append(refs, PullRef{standin.Repo, n})
	}
	looks, err := c.Pulls(t.Context(), standin.Installation, refs)
	require.NoError(t, err)
	require.Len(t, looks, len(refs))
	for _, look := range looks[:2] {
		require.NoError(t, look.Err)
		require.True(t, look.Gone)
	}
	for _, look := range looks[2:] {
		require.NoError(t, look.Err)
		want, err := c.PullRequest(t.Context(), standin.Installation, look.Repo, look.Number)
		require.NoError(t, err)
		require.Equal(t, PullLook{PullRef: look.PullRef, PR: want}, look)
	}
	require.Equal(t, []string{"ocp/aws-standard"}, looks[2].PR.Labels)
	require.True(t, looks[3].PR.Draft)
	require.True(t, looks[4].PR.Merged)
	require.False(t, looks[5].PR.Open)
	require.True(t, looks[6].PR.Fork)
	require.Equal(t, 1, server.CallsByRoute()["POST /graphql"])
}

func TestARepositoryThatMovedIsSeenUnderItsNewName(t *testing.T) {
	server, c := start(t)
	require.NoError(t, server.Rename("storefront", "maya"))
	looks, err := c.Pulls(t.Context(), standin.Installation, []PullRef{{standin.Repo, 41}})
	require.NoError(t, err)
	require.NoError(t, looks[0].Err)
	require.Equal(t, "acme/storefront", looks[0].RenamedTo)
	require.Equal(t, int64(standin.RepoID), looks[0].PR.RepoID)
}

func TestWhatTheAppWasNotGrantedIsNoEnd(t *testing.T) {
	server, c := start(t)
	server.SetManifest(standin.Manifest{})
	looks, err := c.Pulls(t.Context(), standin.Installation, []PullRef{{standin.Repo, 41}})
	require.NoError(t, err)
	require.ErrorContains(t, looks[0].Err, "FORBIDDEN")
	require.False(t, looks[0].Gone)
}

func TestAFileIsReadFromTheBranchAndAskedForAgainForNothing(t *testing.T) {
	server, c := start(t)
	read := func() (File, error) {
		return c.File(t.Context(), standin.Installation, standin.Repo, ".github/ocpctl.yaml", standin.Branch)
	}
	_, err := read()
	require.ErrorIs(t, err, ErrNotFound)
	require.NoError(t, server.Commit(".github/ocpctl.yaml", "default: aws-standard\n"))
	for range 3 {
		got, err := read()
		require.NoError(t, err)
		require.Equal(t, "default: aws-standard\n", string(got.Raw))
	}
	statuses := []int(nil)
	for _, call := range server.Calls() {
		if call.Path == "/repos/acme/shop/contents/.github/ocpctl.yaml" {
			statuses = append(statuses, call.Status)
		}
	}
	require.Equal(t, []int{404, 200, 304, 304}, statuses)
	require.NoError(t, server.Commit(".github/ocpctl.yaml", "default: ibm-standard\n"))
	got, err := read()
	require.NoError(t, err)
	require.Equal(t, "default: ibm-standard\n", string(got.Raw))

	_, err = c.File(t.Context(), standin.Installation, standin.Repo, ".github", standin.Branch)
	require.ErrorIs(t, err, ErrNotFile)
	for _, away := range []func() (File, error){
		func() (File, error) {
			return c.File(t.Context(), standin.Installation, standin.Repo, "README.md", "no-branch")
		},
		func() (File, error) {
			return c.File(t.Context(), standin.Installation, standin.PrivateRepo, "README.md", standin.Branch)
		},
	} {
		_, err = away()
		require.Error(t, err)
		require.NotErrorIs(t, err, ErrNotFound, "not known is not absent")
	}
}

func TestWhatIsNewOnGitHubIsWaitedFor(t *testing.T) {
	server, c := start(t)
	c.cfg.Settling = defaultSettling
	server.NotYet(1)
	number, err := server.Open("New", "will")
	require.NoError(t, err)
	_, err = c.PullRequest(t.Context(), standin.Installation, standin.Repo, number)
	require.NoError(t, err)
	id, err := server.Comment(41, "/ocp status", "will")
	require.NoError(t, err)
	require.NoError(t, c.React(t.Context(), standin.Installation, standin.Repo, id, "eyes"))
	require.Equal(t, map[string][]string{"eyes": {standin.Bot}}, server.Comments(41)[0].Reactions)
}

func TestASuspendedAppIsToldSoWhateverItHolds(t *testing.T) {
	server, c := start(t)
	_, err := c.PullRequest(t.Context(), standin.Installation, standin.Repo, 41) // it holds a token now
	require.NoError(t, err)
	require.NoError(t, server.Suspend("maya"))
	for _, who := range []*Client{c, client(t, server.URL(), server.KeyPEM())} {
		_, err = who.PullRequest(t.Context(), standin.Installation, standin.Repo, 41)
		require.ErrorIs(t, err, ErrRefused)
		require.ErrorContains(t, err, "suspended")
		_, err = who.Pulls(t.Context(), standin.Installation, []PullRef{{standin.Repo, 41}})
		require.ErrorIs(t, err, ErrRefused)
	}
	_, err = c.InstallationOf(t.Context(), standin.Repo)
	require.ErrorIs(t, err, ErrRefused)
	require.NoError(t, server.Unsuspend("maya"))
	_, err = c.PullRequest(t.Context(), standin.Installation, standin.Repo, 41)
	require.NoError(t, err)
}

func TestTheStandInsLimitsAreKept(t *testing.T) {
	server, c := start(t)
	_, err := c.PullRequest(t.Context(), standin.Installation, standin.Repo, 41)
	require.NoError(t, err)
	server.SetLimits(standin.Limits{PerHour: 5000, Strict: true, ContentPerMinute: 2, ContentPerHour: 500, PointsPerMinute: 900})
	for range 2 {
		_, err = c.UpsertComment(t.Context(), comment(41), "words")
		require.NoError(t, err)
	}
	for range 2 {
		_, err = c.UpsertComment(t.Context(), comment(41), "more words")
		require.LessOrEqual(t, waitOf(t, err), time.Minute)
	}
	refused := 0
	for _, call := range server.Calls() {
		if call.Status == 403 || call.Status == 429 {
			refused++
		}
	}
	require.Equal(t, 1, refused, "who is limited does not knock again")
}
