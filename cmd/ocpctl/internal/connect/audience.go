package connect

import (
	"context"
	"fmt"
	"regexp"
	"slices"

	"github.com/ocpctl/ocpctl/profiles"
)

// ourOwn matches audiences of ocpctl. A token for any other audience is meant for something else, so no server gets one because it
// asks for it.
var ourOwn = regexp.MustCompile(`^ocpctl([-._:/][A-Za-z0-9-._:/]*)?$`)

// githubAudience returns the audience for a token of GitHub Actions: the context's, otherwise the one that the server publishes, if
// it is the server itself or an audience of ocpctl. Without a published one it is the server's URL.
// site is the address of the GitHub on which the job runs.
func (c Context) githubAudience(ctx context.Context, site string, discover func(context.Context) (discovery, error)) (string, error) {
	if c.Audience != "" {
		return c.Audience, nil
	}
	said, err := discover(ctx)
	if err != nil {
		return "", err
	}
	asked := said.github(site)
	switch {
	case len(said.Issuers) == 0:
		return c.Server, nil
	case asked == "":
		return "", fmt.Errorf("%s does not publish the audience that a GitHub Actions token needs. Ask its administrators and set it with: ocpctl login --audience …", c.Server)
	case !same(asked, c.Server) && !ourOwn.MatchString(asked):
		return "", fmt.Errorf("%s asks for a token with the audience %q, which is neither its own address nor an ocpctl audience. No token was requested. "+
			"If you trust the server with such a token: ocpctl login --server %s --audience %s", c.Server, asked, c.Server, asked)
	}
	return asked, nil
}

// github returns the audience for jobs of the GitHub at that address: its issuer's, otherwise the only one of the issuers whose address
// shows no GitHub. Without an address it is that of the first GitHub. Empty: there is none, or it is not clear.
func (d discovery) github(site string) string {
	var every []string
	for _, issuer := range d.Issuers {
		if len(issuer.Audiences) == 0 {
			continue
		}
		switch of := profiles.GitHubOf(issuer.Issuer); {
		case of == "":
			every = append(every, issuer.Audiences[0])
		case site == "" || same(of, site):
			return issuer.Audiences[0]
		}
	}
	if every = slices.Compact(every); len(every) == 1 {
		return every[0]
	}
	return ""
}
