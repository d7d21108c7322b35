package connect

import (
	"errors"
	"fmt"
	"strings"

	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/exit"
)

// errNoServer tells people who never signed in what to do.
var errNoServer = errors.New("no server: run ocpctl login --server https://…, or set OCPCTL_SERVER")

// Wanted is what the command line says about the server.
type Wanted struct{ Server, Context string }

// Choose determines the server and the sign-in method: from the flags, then OCPCTL_SERVER, OCPCTL_CONTEXT and OCPCTL_TOKEN, then the
// current context. A server without a context never gets a context's proof: it gets the token from the environment, a GitHub Actions
// job's, or OCPCTL_AUTH=aws.
func Choose(c Config, want Wanted, env func(string) string) (Context, error) {
	server, name := first(want.Server, env("OCPCTL_SERVER")), first(want.Context, env("OCPCTL_CONTEXT"))
	if want.Context != "" && want.Server == "" {
		server = "" // a named context is used as a whole
	}
	chosen, err := named(c, server, name)
	if err != nil {
		return Context{}, err
	}
	if env("OCPCTL_TOKEN") != "" {
		chosen.Auth = given
	}
	if chosen.Auth == "" {
		if chosen.Auth, err = guess(chosen.Server, env); err != nil {
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

func named(c Config, server, name string) (Context, error) {
	if server == "" {
		name = first(name, c.Current)
		if name == "" {
			return Context{}, exit.With(exit.Denied, errNoServer)
		}
	}
	if name != "" {
		found, ok := c.Contexts[name]
		if !ok {
			return Context{}, exit.With(exit.Usage, &exit.Problem{Title: "Unknown context.", Fields: []exit.Field{
				{Name: "--context", Detail: fmt.Sprintf("%q does not exist.", name), Accepted: c.Names()},
			}, Next: "Create it with: ocpctl login --name " + name + " --server https://…"})
		}
		if server == "" || same(server, found.Server) {
			return found, nil
		}
		return Context{Server: server}, nil
	}
	if current := c.Contexts[c.Current]; same(server, current.Server) {
		return current, nil
	}
	for _, name := range c.Names() {
		if same(server, c.Contexts[name].Server) {
			return c.Contexts[name], nil
		}
	}
	return Context{Server: server}, nil
}

// guess finds a sign-in method for a server without a context.
func guess(server string, env func(string) string) (Method, error) {
	switch asked := Method(env("OCPCTL_AUTH")); {
	case asked == AWS, asked == GitHub:
		return asked, nil
	case asked != "":
		return "", exit.Misused("OCPCTL_AUTH is %q; it can be aws or github. For another method create a context: ocpctl login --server %s --auth …", asked, server)
	case env("ACTIONS_ID_TOKEN_REQUEST_URL") != "", env("GITHUB_ACTIONS") == "true":
		return GitHub, nil // a job that may not request a token is told so
	}
	return "", exit.With(exit.Denied, fmt.Errorf(
		"no way to sign in at %s: run ocpctl login --server %s, or set OCPCTL_TOKEN, or OCPCTL_AUTH=aws", server, server))
}

func same(a, b string) bool { return a != "" && strings.TrimRight(a, "/") == strings.TrimRight(b, "/") }

func first(texts ...string) string {
	for _, text := range texts {
		if text != "" {
			return text
		}
	}
	return ""
}
