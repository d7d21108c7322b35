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

// discoveryPath is where a server says for whom the tokens have to be that it accepts.
const discoveryPath = "/.well-known/ocpctl"

// discovery is what it says there.
type discovery struct {
	Issuers []struct {
		Issuer    string   `json:"issuer"`
		Audiences []string `json:"audiences"`
	} `json:"issuers"`
}

// githubIssuer is where the tokens of GitHub's own runners come from, of an enterprise with its name behind it. That of a GitHub
// Enterprise Server ends with githubServerPath. See https://docs.github.com/en/actions/concepts/security/openid-connect
const (
	githubIssuer     = "https://token.actions.githubusercontent.com"
	githubServerPath = "/_services/token"
)

// ourOwn are names that audiences of ocpctl have. A token for anybody else opens something else, so no server gets one because it
// asked for it.
var ourOwn = regexp.MustCompile(`^ocpctl([-._:/][A-Za-z0-9-._:/]*)?$`)

// githubAudience is for whom a token of GitHub Actions has to be: what the context says, else what the server says, if it names
// itself or an audience of ocpctl. A server that says nothing is its own audience.
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

// github is the audience of the issuer that is GitHub's, or the only one there is.
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

// discover asks a server what it accepts. One that is older than the question answers with 404, and says nothing.
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
