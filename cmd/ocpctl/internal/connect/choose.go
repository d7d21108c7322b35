package connect

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/exit"
)

// errNoServer tells people who never signed in what to do.
var errNoServer = errors.New("no server: run ocpctl login --server https://…, or set OCPCTL_SERVER")

// Wanted is what the command line says about the server.
type Wanted struct{ Server, Context string }

// Choose determines the server and the sign-in method: from the flags, then OCPCTL_SERVER, OCPCTL_CONTEXT, OCPCTL_TOKEN and
// OCPCTL_TOKEN_FILE, then the current context. A server without a context never gets a context's proof: it gets the token from the
// environment or its file, a GitHub Actions job's, or OCPCTL_AUTH=aws.
func Choose(c Config, want Wanted, env func(string) string) (Context, error) {
	server, name := cmp.Or(want.Server, env("OCPCTL_SERVER")), cmp.Or(want.Context, env("OCPCTL_CONTEXT"))
	if want.Context != "" && want.Server == "" {
		server = "" // a named context is used as a whole
	}
	chosen, err := findContext(c, server, name)
	if err != nil {
		return Context{}, err
	}
	switch file := env("OCPCTL_TOKEN_FILE"); {
	case env("OCPCTL_TOKEN") != "":
		chosen.Auth = given
	case file != "":
		chosen.Auth, chosen.TokenFile = TokenFile, file
	}
	chosen.CAFile = cmp.Or(env("OCPCTL_CA_FILE"), chosen.CAFile)
	if chosen.Auth == "" {
		if chosen.Auth, err = guessMethod(chosen.Server, env); err != nil {
			return Context{}, err
		}
	}
	if bad := badServer(chosen.Server); bad != "" {
		return Context{}, exit.With(exit.Usage, &exit.Problem{Title: "This server cannot be used.", Fields: []exit.Field{
			{Name: "server", Detail: bad, Accepted: []string{"https://ocpctl.example.com"}},
		}})
	}
	chosen.Server = strings.TrimRight(chosen.Server, "/")
	return chosen, nil
}

func findContext(c Config, server, name string) (Context, error) {
	if server == "" {
		name = cmp.Or(name, c.Current)
		if name == "" {
			return Context{}, exit.With(exit.Denied, errNoServer)
		}
	}
	if name != "" {
		found, ok := c.contextOf(name)
		if !ok {
			return Context{}, exit.With(exit.Usage, &exit.Problem{Title: "Unknown context.", Fields: []exit.Field{
				{Name: "--context", Detail: fmt.Sprintf("%q does not exist.", name), Accepted: c.Names()},
			}, Next: "Create it with: ocpctl login --name " + name + " --server https://…"})
		}
		if server == "" || isSameServer(server, found.Server) {
			return found, nil
		}
		return Context{Server: server}, nil
	}
	for _, name := range append([]string{c.Current}, c.Names()...) {
		if found, ok := c.contextOf(name); ok && isSameServer(server, found.Server) {
			return found, nil
		}
	}
	return Context{Server: server}, nil
}

// contextOf returns a context with its name.
func (c Config) contextOf(name string) (Context, bool) {
	found, ok := c.Contexts[name]
	found.Name = name
	return found, ok
}

// guessMethod finds a sign-in method for a server without a context.
func guessMethod(server string, env func(string) string) (Method, error) {
	switch asked := Method(env("OCPCTL_AUTH")); {
	case asked == AWS, asked == GitHub:
		return asked, nil
	case asked != "":
		return "", exit.Misused("OCPCTL_AUTH is %q; it can be aws or github. For another method create a context: ocpctl login --server %s --auth …", asked, server)
	case env("ACTIONS_ID_TOKEN_REQUEST_URL") != "", env("GITHUB_ACTIONS") == "true": // without a token to request, it says what to do
		return GitHub, nil
	}
	return "", exit.With(exit.Denied, fmt.Errorf(
		"no way to sign in at %s: run ocpctl login --server %s, or set OCPCTL_TOKEN or OCPCTL_TOKEN_FILE, or OCPCTL_AUTH=aws", server, server))
}

func isSameServer(a, b string) bool {
	return a != "" && strings.TrimRight(a, "/") == strings.TrimRight(b, "/")
}
