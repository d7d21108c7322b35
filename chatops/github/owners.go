package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	gh "github.com/google/go-github/v66/github"
	"golang.org/x/oauth2"

	"github.com/ocpctl/ocpctl/internal/secret"
)

// ErrSpentCode says that GitHub does not take a code, or not any more.
var ErrSpentCode = errors.New("GitHub does not accept the code, or not any more")

// Owners has people prove that an account is theirs, by the App's user authorization with PKCE. The token that GitHub gives is used once, for
// the account's number, and kept nowhere.
// https://docs.github.com/apps/creating-github-apps/authenticating-with-a-github-app/generating-a-user-access-token-for-a-github-app
type Owners struct {
	flow oauth2.Config
	base *url.URL
	http *http.Client
}

// NewOwners returns the proof for the App with a client id and a secret. base is the URL of GitHub's API, and callback the page of ours to which
// GitHub sends people back; the App's registration must list it.
func NewOwners(clientID string, clientSecret secret.Text, base, callback string) (*Owners, error) {
	at, err := url.Parse(strings.TrimSuffix(base, "/") + "/")
	site := Site(base)
	if err != nil || site == "" {
		return nil, fmt.Errorf("GitHub base URL %q: want http(s)://host/", base)
	}
	return &Owners{
		flow: oauth2.Config{ClientID: clientID, ClientSecret: clientSecret.Reveal(), RedirectURL: callback, Endpoint: oauth2.Endpoint{
			AuthURL: site + "/login/oauth/authorize", TokenURL: site + "/login/oauth/access_token", AuthStyle: oauth2.AuthStyleInParams,
		}},
		base: at, http: &http.Client{Timeout: defaultTimeout, CheckRedirect: sameHost},
	}, nil
}

// URL is where somebody proves it. GitHub suggests the account with the login; choose has it ask which of several is meant. NewVerifier makes
// a verifier.
func (o *Owners) URL(state, verifier, login string, choose bool) string {
	options := []oauth2.AuthCodeOption{oauth2.S256ChallengeOption(verifier), oauth2.SetAuthURLParam("login", login), oauth2.SetAuthURLParam("allow_signup", "false")}
	if choose {
		options = append(options, oauth2.SetAuthURLParam("prompt", "select_account"))
	}
	return o.flow.AuthCodeURL(state, options...)
}

// Callback is the page of ours to which GitHub sends people back.
func (o *Owners) Callback() string { return o.flow.RedirectURL }

// NewVerifier returns a new verifier of PKCE (RFC 7636).
func NewVerifier() string { return oauth2.GenerateVerifier() }

// Account returns the number and the login of the account of whoever came back with a code. ErrSpentCode: GitHub does not take it. ErrRefused:
// GitHub refuses the App's own client id, secret or callback.
func (o *Owners) Account(ctx context.Context, code, verifier string) (number int64, login string, err error) {
	const doing = "ask GitHub who somebody is"
	token, err := o.flow.Exchange(context.WithValue(ctx, oauth2.HTTPClient, o.http), code, oauth2.VerifierOption(verifier))
	var said *oauth2.RetrieveError
	switch {
	case errors.As(err, &said) && said.ErrorCode == "bad_verification_code":
		return 0, "", fmt.Errorf("%s: %w", doing, ErrSpentCode)
	case errors.As(err, &said) && said.ErrorCode != "":
		return 0, "", fmt.Errorf("%s: %w: %s", doing, ErrRefused, said.ErrorCode)
	case errors.As(err, &said): // its text has the whole response
		return 0, "", fmt.Errorf("%s: GitHub answered %s to a code", doing, said.Response.Status)
	case err != nil:
		return 0, "", fmt.Errorf("%s: %w", doing, err)
	}
	client := gh.NewClient(o.http).WithAuthToken(token.AccessToken)
	client.BaseURL, client.UserAgent = o.base, "ocpctl"
	user, _, err := client.Users.Get(ctx, "")
	if err == nil && user.GetID() == 0 {
		err = errors.New("GitHub answered without the account's number")
	}
	return user.GetID(), user.GetLogin(), convertError(doing, err)
}

// Check returns an error if GitHub does not accept the client id and the secret: it looks at a code, which nobody has, only after them.
func (o *Owners) Check(ctx context.Context) error {
	if _, _, err := o.Account(ctx, "none", NewVerifier()); !errors.Is(err, ErrSpentCode) {
		return err
	}
	return nil
}
