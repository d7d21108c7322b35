package github

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestARenamedAccountKeepsItsNumberAndItsLoginIsFree(t *testing.T) {
	s := start(t, Config{})
	person := func(login string) object { return s.sceneOf("").user(login) }
	is := person("maya")["id"]
	require.NoError(t, s.RenameAccount("maya", "maya-w"))
	require.Equal(t, is, person("maya-w")["id"])
	pr, _ := s.PullRequest(41)
	require.NotEqual(t, "maya", pr.Author)
	s.look(func(w *world) {
		require.False(t, w.known("maya"))
		require.Empty(t, w.Repos[0].Permissions["maya"])
		require.NotEmpty(t, w.Repos[0].Permissions["maya-w"])
		require.Contains(t, w.Members, "maya-w")
	})
	require.Equal(t, "maya-w", s.loginOf(itoa(is.(int64))))

	require.Error(t, s.RenameAccount("maya", "other"), "nobody has the login")
	require.Error(t, s.AddAccount("will", false), "somebody has it")
	require.NoError(t, s.AddAccount("maya", false))
	require.NotEqual(t, is, person("maya")["id"])
	require.Equal(t, "User", person("maya")["type"])
}

// What a stranger can do with the name of an organization and of a repository that were given up.
func TestARenamedOwnersNameAndItsRepositoriesNamesAreFree(t *testing.T) {
	s := start(t, Config{})
	claims := func(p Place) map[string]any {
		t.Helper()
		run, err := p.Runs().Start(NewRun{})
		require.NoError(t, err)
		claims, err := p.Runs().Claims(run.Jobs[0].ID)
		require.NoError(t, err)
		return claims
	}
	before := claims(s.In("acme/shop"))
	require.NoError(t, s.RenameAccount(Org, "acme-inc"))
	after := claims(s.In("acme-inc/shop"))
	require.Equal(t, []any{"acme-inc/shop", "acme-inc"}, []any{after["repository"], after["repository_owner"]})
	for _, number := range []string{"repository_id", "repository_owner_id"} {
		require.Equal(t, before[number], after[number], number)
	}

	require.NoError(t, s.AddAccount(Org, false))
	require.NoError(t, s.In("acme-inc/api").Rename("shop-2", "maya"))
	require.NoError(t, s.In("acme-inc/shop-2").Transfer(Org, "maya"))
	require.NoError(t, s.In("acme/shop-2").Rename("shop", "maya"))
	taken := claims(s.In("acme/shop"))
	for _, name := range []string{"repository", "repository_owner", "sub"} {
		require.Equal(t, before[name], taken[name], name)
	}
	for _, number := range []string{"repository_id", "repository_owner_id"} {
		require.NotEqual(t, before[number], taken[number], number)
	}
}

func TestABotNeedNotBeCalledOne(t *testing.T) {
	s := start(t, Config{})
	require.NoError(t, s.AddAccount("robot", true))
	require.NoError(t, s.AddAccount("will[bot]", false))
	require.Equal(t, "Bot", s.sceneOf("").user("robot")["type"])
	require.Equal(t, "User", s.sceneOf("").user("will[bot]")["type"])
}
