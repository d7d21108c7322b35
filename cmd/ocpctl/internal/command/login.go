package command

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/connect"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/exit"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/kube"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/table"
)

func (a *app) newLoginCommand() *cobra.Command {
	var c connect.Context
	var name, auth string
	var blind, device bool
	cmd := &cobra.Command{
		Use: "login --server URL", Short: "Sign in at a server, and save how",
		Long: `Sign in at a server, and save it and the way to sign in as a context.

  browser        you, on the server's pages: your browser opens and asks whether this machine may act as you. Without a browser
                 here, or with --device, you type a code on any machine. Commands then renew their short token until your sign-in
                 ends; ocpctl logout ends it at once
  aws            your AWS credentials (profile, SSO, instance or pod role): a signed STS request, which only this server can
                 use and only once, is exchanged for a short-lived token
  github         the OIDC token of a GitHub Actions job (permissions: id-token: write)
  token-file     a file that is kept up to date, e.g. a projected Kubernetes service account token
  token-command  the output of a command

Only browser keeps anything: a file that only you can read. With the others every command signs in again.

In a pipeline no login is needed. Set OCPCTL_SERVER; a GitHub Actions job then signs in by itself, elsewhere set OCPCTL_AUTH=aws,
OCPCTL_TOKEN_FILE or OCPCTL_TOKEN.`,
		Example: `  ocpctl login --server https://ocpctl.example.com
  ocpctl login --server https://ocpctl.example.com --auth token-file --token-file /var/run/secrets/ocpctl/token
  ocpctl login --name staging --server https://ocpctl.staging.example.com --aws-profile staging`,
		Args: rangeArgs(0, 0), ValidArgsFunction: cobra.NoFileCompletions,
		RunE: a.runCommand(func(ctx context.Context, _ []string) error {
			c.Server, c.Auth = cmp.Or(a.want.Server, a.Env("OCPCTL_SERVER")), connect.Method(auth)
			if auth == "" {
				c.Auth = a.likelyMethod(c, device)
			}
			if c.Auth == connect.Browser {
				if err := a.signInByBrowser(ctx, &c, device); err != nil {
					return err
				}
			}
			return a.loginTo(ctx, c, cmp.Or(name, a.want.Context), blind)
		}),
	}
	f := cmd.Flags()
	f.StringVar(&name, "name", "", "the context's `name`; default: the server's host")
	f.StringVar(&auth, "auth", "", "the sign-in `method`: browser, aws, github, token-file or token-command; default: what fits this machine")
	f.StringVar(&c.Audience, "audience", "", "the `audience` of the token, if the administrators of the server chose another one; default: the server's address")
	f.StringVar(&c.TokenFile, "token-file", "", "the `file` with the token, for token-file")
	f.StringVar(&c.TokenCommand, "token-command", "", "the shell `command` that prints the token, for token-command")
	f.StringVar(&c.AWSProfile, "aws-profile", "", "the AWS `profile`; default: the SDK's choice")
	f.StringVar(&c.AWSRegion, "aws-region", "", "the AWS `region` for STS; default: the SDK's choice")
	f.StringVar(&c.CAFile, "ca-file", "", "a `file` with the CA certificate of the server")
	f.BoolVar(&device, "device", false, "sign in with a code that you type in a browser on any machine")
	f.BoolVar(&blind, "no-check", false, "do not check that it works")
	return cmd
}

// likelyMethod returns the sign-in method that fits the flags and the machine.
func (a *app) likelyMethod(c connect.Context, device bool) connect.Method {
	switch {
	case device:
		return connect.Browser
	case c.TokenFile != "":
		return connect.TokenFile
	case c.TokenCommand != "":
		return connect.TokenCommand
	case a.Env("ACTIONS_ID_TOKEN_REQUEST_URL") != "":
		return connect.GitHub
	case c.AWSProfile == "" && a.ErrTTY && !a.hasAWS():
		return connect.Browser
	}
	return connect.AWS
}

// hasAWS reports whether the machine has AWS credentials as far as can be seen without asking anybody.
func (a *app) hasAWS() bool {
	for _, name := range []string{"AWS_PROFILE", "AWS_ACCESS_KEY_ID", "AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "AWS_CONTAINER_CREDENTIALS_FULL_URI", "AWS_CONFIG_FILE"} {
		if a.Env(name) != "" {
			return true
		}
	}
	for _, file := range []string{"config", "credentials"} {
		if _, err := os.Stat(filepath.Join(a.Env("HOME"), ".aws", file)); err == nil {
			return true
		}
	}
	return false
}

// signInByBrowser signs in a person through the server's pages: with the browser of this machine, else with a typed code.
func (a *app) signInByBrowser(ctx context.Context, c *connect.Context, device bool) error {
	settled, err := settleContext(*c)
	if err != nil {
		return err
	}
	*c = settled
	signIn, err := connect.NewBrowserSignIn(settled, a.connectOptions())
	if err != nil {
		return err
	}
	machine, err := os.Hostname()
	if err != nil {
		machine = "this machine"
	}
	if !device && a.Env("SSH_CONNECTION") == "" {
		return signIn.Open(ctx, machine, func(address string) {
			a.printNotef("Confirm in your browser that ocpctl may act as you. If it does not open, open this address on this machine, or run ocpctl login with --device:\n%s", address)
			_ = a.Browse(ctx, address) // the address is printed
		})
	}
	return signIn.Type(ctx, machine, func(address, code string) {
		a.printNotef("Open %s in a browser on any machine and type this code:\n\n  %s\n", address, code)
	})
}

func (a *app) loginTo(ctx context.Context, c connect.Context, name string, blind bool) error {
	c, err := settleContext(c)
	if err != nil {
		return err
	}
	if name == "" {
		u, err := url.Parse(c.Server)
		if err != nil {
			return err
		}
		name = u.Host
	}
	path := connect.Path(a.Env)
	config, err := connect.Load(path)
	if err != nil {
		return err
	}
	var me connect.Answer[v1.Me]
	var api *connect.API
	if !blind {
		if api, err = a.openContext(c); err != nil {
			return err
		}
		if me, err = connect.Read[v1.Me](api.GetMe(ctx)); err != nil {
			return fmt.Errorf("nothing was changed: %w", err)
		}
	}
	config.Contexts[name], config.Current = c, name
	if err := config.Save(path); err != nil {
		return err
	}
	a.printNotef("Saved context %q to %s and made it current.", name, path)
	if blind {
		return nil
	}
	return a.printMe(api, me)
}

// settleContext returns a context that is valid wherever a command is run, with absolute paths.
func settleContext(c connect.Context) (connect.Context, error) {
	if err := c.Check(); err != nil {
		return c, err
	}
	for _, file := range []*string{&c.TokenFile, &c.CAFile} {
		if *file == "" {
			continue
		}
		whole, err := filepath.Abs(*file)
		if err != nil {
			return c, err
		}
		*file = whole
	}
	return c, nil
}

func (a *app) newLogoutCommand() *cobra.Command {
	return &cobra.Command{
		Use: "logout [NAME]", Short: "Delete a context, and end its sign-in; default: the current one",
		Long: "Delete a context; default: the current one. A sign-in through the browser ends on the server, too. The tokens of clusters that ocpctl credential kept for its server are deleted too.",
		Args: rangeArgs(0, 1), ValidArgsFunction: completeFirst(a.completeContexts),
		RunE: a.runCommand(func(ctx context.Context, args []string) error {
			path := connect.Path(a.Env)
			config, err := connect.Load(path)
			if err != nil {
				return err
			}
			name := cmp.Or(a.want.Context, config.Current)
			if len(args) > 0 {
				name = args[0]
			}
			if err := checkContext(config, name); err != nil {
				return err
			}
			gone := config.Contexts[name]
			delete(config.Contexts, name)
			if config.Current == name {
				config.Current = ""
			}
			if err := config.Save(path); err != nil {
				return err
			}
			a.printNotef("Deleted context %q.", name)
			if err := kube.DefaultKeep(a.Env).Drop(gone.Server, ""); err != nil {
				return err
			}
			if gone.Auth == connect.Browser {
				signIn, err := connect.NewBrowserSignIn(gone, a.connectOptions())
				if err != nil {
					return err
				}
				if err := signIn.SignOut(ctx); err != nil {
					return err
				}
			}
			if a.Env("OCPCTL_TOKEN") != "" {
				a.printNotef("OCPCTL_TOKEN is still set and is still used.")
			}
			return nil
		}),
	}
}

func checkContext(c connect.Config, name string) error {
	if _, ok := c.Contexts[name]; ok {
		return nil
	}
	return exit.With(exit.NotFound, &exit.Problem{Title: "Unknown context.", Fields: []exit.Field{
		{Name: "NAME", Detail: fmt.Sprintf("%q does not exist.", name), Accepted: c.Names()},
	}})
}

func (a *app) newContextCommand() *cobra.Command {
	use := &cobra.Command{
		Use: "use NAME", Short: "Make a context current", Args: rangeArgs(1, 1), ValidArgsFunction: completeFirst(a.completeContexts),
		RunE: a.runCommand(func(_ context.Context, args []string) error {
			config, err := connect.Load(connect.Path(a.Env))
			if err != nil {
				return err
			}
			if err := checkContext(config, args[0]); err != nil {
				return err
			}
			config.Current = args[0]
			return config.Save(connect.Path(a.Env))
		}),
	}
	list := &cobra.Command{
		Use: "list", Short: "List the contexts", Args: rangeArgs(0, 0), ValidArgsFunction: cobra.NoFileCompletions,
		RunE: a.runCommand(func(context.Context, []string) error {
			config, err := connect.Load(connect.Path(a.Env))
			if err != nil {
				return err
			}
			raw, err := contextsJSON(config)
			if err != nil {
				return err
			}
			return a.printAnswer(raw, config.Names(), func(s *table.Screen) {
				t := s.Columns("CURRENT", "NAME", "SERVER", "AUTH", "+WITH")
				for _, name := range config.Names() {
					c, mark := config.Contexts[name], table.Cell{}
					if name == config.Current {
						mark = table.Cell{Text: "*", Paint: table.Good}
					}
					t.Row(mark, name, c.Server, string(c.Auth), cmp.Or(c.TokenFile, c.TokenCommand, c.AWSProfile))
				}
				t.Write("No contexts. Create one with: ocpctl login --server https://…")
			})
		}),
	}
	return newGroupCommand("context", "Saved servers", "The servers that login saved in $XDG_CONFIG_HOME/ocpctl/config.yaml. Only you can read the file, and it contains no secret.\nOCPCTL_CONFIG sets another file.", list, use)
}
