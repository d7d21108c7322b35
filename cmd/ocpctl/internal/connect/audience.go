package connect

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
)

// discoveryPath is where a server publishes which tokens it accepts.
const discoveryPath = "/.well-known/ocpctl"

// discovery is the document at that path.
type discovery struct {
	Issuers []struct {
		Issuer    string   `json:"issuer"`
		Audiences []string `json:"audiences"`
	} `json:"issuers"`
}

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
func (c Context) githubAudience(ctx context.Context, plain *http.Client) (string, error) {
	if c.Audience != "" {
		return c.Audience, nil
	}
	said, err := discover(ctx, plain, c.Server)
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

// discover asks a server what it accepts. An older server answers 404, and the result is empty.
func discover(ctx context.Context, plain *http.Client, server string) (discovery, error) {
	var said discovery
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, server+discoveryPath, nil)
	if err != nil {
		return said, err
	}
	res, err := plain.Do(r)
	if err != nil {
		return said, fmt.Errorf("ask the server for its audience: %w", err)
	}
	defer res.Body.Close()
	switch res.StatusCode {
	case http.StatusNotFound:
		return said, nil
	case http.StatusOK:
	default:
		return said, fmt.Errorf("ask the server for its audience: the response was %s", res.Status)
	}
	if err := json.NewDecoder(io.LimitReader(res.Body, mostAnswer)).Decode(&said); err != nil {
		return said, fmt.Errorf("ask the server for its audience: %s%s is not a JSON object", server, discoveryPath)
	}
	return said, nil
}
