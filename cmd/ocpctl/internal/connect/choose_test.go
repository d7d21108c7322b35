package connect_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/connect"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/exit"
)

const (
	prod    = "https://ocpctl.example.com"
	staging = "https://staging.example.com"
)

func contexts() connect.Config {
	return connect.Config{Current: "prod", Contexts: map[string]connect.Context{
		"prod":    {Server: prod, Auth: connect.AWS},
		"staging": {Server: staging + "/", Auth: connect.TokenFile, TokenFile: "/token"},
	}}
}

func TestWhereToGoAndWhoToBe(t *testing.T) {
	type env = map[string]string
	for name, c := range map[string]struct {
		want         connect.Wanted
		env          env
		server, auth string
	}{
		"the current context":          {server: prod, auth: "aws"},
		"a context by its name":        {want: connect.Wanted{Context: "staging"}, server: staging, auth: "token-file"},
		"a context of the environment": {env: env{"OCPCTL_CONTEXT": "staging"}, server: staging, auth: "token-file"},
		"a context by its server":      {want: connect.Wanted{Server: staging}, server: staging, auth: "token-file"},
		"a context on the command line before the server of the environment": {want: connect.Wanted{Context: "prod"}, env: env{"OCPCTL_SERVER": staging}, server: prod, auth: "aws"},
		"a server that no context names, in a GitHub job":                    {want: connect.Wanted{Server: "https://other.example.com"}, env: env{"ACTIONS_ID_TOKEN_REQUEST_URL": "x"}, server: "https://other.example.com", auth: "github"},
		"a server that no context names, with AWS":                           {env: env{"OCPCTL_SERVER": "https://other.example.com", "OCPCTL_AUTH": "aws"}, server: "https://other.example.com", auth: "aws"},
		"the environment's token goes before every context":                  {env: env{"OCPCTL_TOKEN": "x"}, server: prod, auth: "OCPCTL_TOKEN"},
		"a file with a token, which something else renews":                   {env: env{"OCPCTL_TOKEN_FILE": "/token"}, server: prod, auth: "token-file"},
		"a file with a token for a server that no context names":             {env: env{"OCPCTL_SERVER": "https://other.example.com", "OCPCTL_TOKEN_FILE": "/token"}, server: "https://other.example.com", auth: "token-file"},
		"a token goes before a file with one":                                {env: env{"OCPCTL_TOKEN": "x", "OCPCTL_TOKEN_FILE": "/token"}, server: prod, auth: "OCPCTL_TOKEN"},
		"this machine needs no TLS":                                          {env: env{"OCPCTL_SERVER": "http://127.0.0.1:8080/", "OCPCTL_TOKEN": "x"}, server: "http://127.0.0.1:8080", auth: "OCPCTL_TOKEN"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := connect.Choose(contexts(), c.want, func(name string) string { return c.env[name] })
			require.NoError(t, err)
			require.Equal(t, c.server, got.Server)
			require.Equal(t, connect.Method(c.auth), got.Auth)
			if _, known := contexts().Contexts[got.Name]; known {
				require.Equal(t, got.Server+"/", strings.TrimRight(contexts().Contexts[got.Name].Server, "/")+"/")
			} else {
				require.Empty(t, got.Name)
			}
		})
	}
}

func TestWhereNotToGo(t *testing.T) {
	type env = map[string]string
	for name, c := range map[string]struct {
		config connect.Config
		want   connect.Wanted
		env    env
		code   exit.Code
		text   string
	}{
		"nobody ever signed in":                       {code: exit.Denied, text: "run ocpctl login --server"},
		"a context that is not there":                 {config: contexts(), want: connect.Wanted{Context: "dev"}, code: exit.Usage, text: "Accepted: prod, staging."},
		"another server never gets a context's proof": {config: contexts(), want: connect.Wanted{Server: "https://evil.example.com"}, code: exit.Denied, text: "no way to sign in at https://evil.example.com"},
		"nor does it get one by the context's name":   {config: contexts(), want: connect.Wanted{Server: "https://evil.example.com", Context: "prod"}, code: exit.Denied, text: "no way to sign in"},
		"a token in the clear":                        {env: env{"OCPCTL_SERVER": "http://ocpctl.example.com", "OCPCTL_TOKEN": "x"}, code: exit.Usage, text: "does not use TLS"},
		"no address":                                  {env: env{"OCPCTL_SERVER": "ocpctl.example.com", "OCPCTL_TOKEN": "x"}, code: exit.Usage, text: "is not a server address"},
		"a way to sign in that needs a context":       {env: env{"OCPCTL_SERVER": prod, "OCPCTL_AUTH": "token-file"}, code: exit.Usage, text: "it can be aws or github"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := connect.Choose(c.config, c.want, func(name string) string { return c.env[name] })
			require.ErrorContains(t, err, c.text)
			require.Equal(t, c.code, exit.CodeOf(err))
		})
	}
}

func TestTheContextsAreTheirOwnersAlone(t *testing.T) {
	path := connect.Path(func(name string) string { return map[string]string{"XDG_CONFIG_HOME": t.TempDir()}[name] })
	require.NoError(t, contexts().Save(path))
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	folder, err := os.Stat(filepath.Dir(path))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o700), folder.Mode().Perm())
	back, err := connect.Load(path)
	require.NoError(t, err)
	require.Equal(t, contexts(), back)
	left, err := filepath.Glob(filepath.Join(filepath.Dir(path), ".*"))
	require.NoError(t, err)
	require.Empty(t, left, "no draft is left behind")
}

func TestAFileWithContextsIsReadStrictly(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.yaml")
	require.NoError(t, os.WriteFile(path, []byte("contexts:\n  prod: {server: x, token: secret}\n"), 0o600))
	_, err := connect.Load(path)
	require.ErrorContains(t, err, "field token not found")
	empty, err := connect.Load(filepath.Join(t.TempDir(), "none.yaml"))
	require.NoError(t, err)
	require.Empty(t, empty.Names())
}

func TestAllThatIsWrongWithAContextIsToldAtOnce(t *testing.T) {
	err := connect.Context{Server: "http://ocpctl.example.com", Auth: connect.TokenFile, TokenCommand: "true"}.Check()
	for _, want := range []string{"--server: http://ocpctl.example.com does not use TLS", "--token-file: Required with --auth token-file.", "--token-command: Only valid with --auth token-command, not with --auth token-file."} {
		require.ErrorContains(t, err, want)
	}
	require.Equal(t, exit.Usage, exit.CodeOf(err))
	require.NoError(t, contexts().Contexts["staging"].Check())
}
