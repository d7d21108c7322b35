package connect

import (
	"context"
	"fmt"
	"regexp"
	"strings"
)

// githubIssuer is the issuer of tokens for GitHub's own runners; an enterprise's name follows it. A GitHub Enterprise Server's issuer
// ends with githubServerPath. See https://docs.github.com/en/actions/concepts/security/openid-connect
const (
	githubIssuer     = "https://token.actions.githubusercontent.com"
	githubServerPath = "/_services/token"
)

// ourOwn matches audiences of ocpctl. A token for any other audience is meant for something else, so no server gets one because it
// asks for it.
var ourOwn = regexp.MustCompile(`^ocpctl([-._:/][A-Za-z0-9-._:/]*)?$`)

// githubAudience returns the audience for a token of GitHub Actions: the context's, otherwise the one that the server publishes, if
// it is the server itself or an audience of ocpctl. Without a published one it is the server's URL.
func (c Context) githubAudience(ctx context.Context, discover func(context.Context) (discovery, error)) (string, error) {
	if c.Audience != "" {
		return c.Audience, nil
	}
	said, err := discover(ctx)
	if err != nil {
		return "", err
	}
	asked := said.github()
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

// github returns the audience of the issuer that is GitHub's, or of the only issuer.
func (d discovery) github() string {
	var every []string
	for _, issuer := range d.Issuers {
		if len(issuer.Audiences) == 0 {
			continue
		}
		if issuer.Issuer == githubIssuer || strings.HasPrefix(issuer.Issuer, githubIssuer+"/") || strings.HasSuffix(issuer.Issuer, githubServerPath) {
			return issuer.Audiences[0]
		}
		every = append(every, issuer.Audiences[0])
	}
	for _, other := range every {
		if other != every[0] {
			return ""
		}
	}
	return strings.Join(every[:min(1, len(every))], "")
}
