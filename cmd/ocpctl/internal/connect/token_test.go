package connect

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAJobWithoutATokenIsToldWhatToDo(t *testing.T) {
	event := func(body string) string {
		path := filepath.Join(t.TempDir(), "event.json")
		require.NoError(t, os.WriteFile(path, []byte(body), 0o600))
		return path
	}
	fork := event(`{"action": "opened", "pull_request": {"number": 41, "head": {"ref": "x", "repo": {"full_name": "rob/shop"}}}}`)
	own := event(`{"pull_request": {"head": {"repo": {"full_name": "Acme/Shop"}}}}`)
	deleted := event(`{"pull_request": {"head": {"repo": null}}}`)
	for name, c := range map[string]struct {
		env  map[string]string
		want string
	}{
		"no pipeline":                  {nil, "not a job of GitHub Actions"},
		"a push":                       {map[string]string{"GITHUB_ACTIONS": "true"}, "permissions: {id-token: write}"},
		"a fork":                       {map[string]string{"GITHUB_ACTIONS": "true", "GITHUB_REPOSITORY": "acme/shop", "GITHUB_EVENT_PATH": fork}, "pull request from a fork"},
		"a branch of the repository":   {map[string]string{"GITHUB_ACTIONS": "true", "GITHUB_REPOSITORY": "acme/shop", "GITHUB_EVENT_PATH": own}, "permissions: {id-token: write}"},
		"a deleted head":               {map[string]string{"GITHUB_ACTIONS": "true", "GITHUB_REPOSITORY": "acme/shop", "GITHUB_EVENT_PATH": deleted}, "permissions: {id-token: write}"},
		"an event that is not there":   {map[string]string{"GITHUB_ACTIONS": "true", "GITHUB_EVENT_PATH": "/none"}, "permissions: {id-token: write}"},
		"an event that cannot be read": {map[string]string{"GITHUB_ACTIONS": "true", "GITHUB_EVENT_PATH": event("{")}, "permissions: {id-token: write}"},
	} {
		require.ErrorContains(t, noToken(func(name string) string { return c.env[name] }), c.want, name)
	}
}
