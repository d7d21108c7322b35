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

func TestABotNeedNotBeCalledOne(t *testing.T) {
	s := start(t, Config{})
	require.NoError(t, s.AddAccount("robot", true))
	require.NoError(t, s.AddAccount("will[bot]", false))
	require.Equal(t, "Bot", s.sceneOf("").user("robot")["type"])
	require.Equal(t, "User", s.sceneOf("").user("will[bot]")["type"])
}
