// Package openid makes the server the OpenID provider of its clusters: readers sign in to a cluster's console with their sign-in to the pages. It
// is the authorization code flow of OpenID Connect Core 1.0 with one client for each cluster, as OpenShift's OAuth server uses it
// (openshift/oauth-server pkg/oauth/external/openid): the secret is a parameter of the form, and PKCE is optional, because that server does not send it.
//
// A code or an ID token is only for a reader whose access to that console can be used. Nothing is stored: a code is sealed, and its use is recorded.
package openid

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/subtle"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/app/auth"
	"github.com/ocpctl/ocpctl/app/credentials"
	"github.com/ocpctl/ocpctl/app/oauth"
	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/internal/names"
	"github.com/ocpctl/ocpctl/internal/secret"
	"github.com/ocpctl/ocpctl/internal/source"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store/access"
)

// Where clusters ask. The page to which they send a browser is AuthorizePath.
const (
	issuerPath    = "/openid"
	DiscoveryPath = issuerPath + "/.well-known/openid-configuration"
	AuthorizePath = issuerPath + "/authorize"
	TokenPath     = issuerPath + "/token"
	KeysPath      = issuerPath + "/keys"
)

// How long a browser may take to pass a code on, and how long an ID token is valid. The session in the cluster ends with the access.
const (
	codeLasts  = time.Minute
	tokenLasts = 5 * time.Minute
)

// Config configures the service.
type Config struct {
	App         *app.Service
	Credentials *credentials.Service
	Key         ed25519.PrivateKey // that signs sessions
	Spend       auth.Spend
	Home        string           // URL of the pages
	CA          string           // certificates (PEM) with which clusters verify Home; empty: those that they trust
	Proxies     source.Networks  // proxies whose information about the client is trusted
	Now         func() time.Time // nil: time.Now
	Log         *slog.Logger
}

// Service signs readers in to consoles. Safe for concurrent use.
type Service struct {
	Config
	keys keys
	door *oauth.Door
}

// New returns the service.
func New(c Config) (*Service, error) {
	if c.Now == nil {
		c.Now = time.Now
	}
	c.Home = strings.TrimRight(c.Home, "/")
	k, err := newKeys(c.Key)
	if err != nil {
		return nil, fmt.Errorf("derive the keys of the OpenID provider: %w", err)
	}
	return &Service{c, k, oauth.NewDoor(c.Proxies, c.Log)}, nil
}

func (s *Service) issuer() string { return s.Home + issuerPath }

// Client returns what a runner configures in a cluster.
func (s *Service) Client(cluster string) (*contract.OpenIDClient, error) {
	key, err := s.keys.clientSecret(cluster)
	return &contract.OpenIDClient{Issuer: s.issuer(), ID: cluster, Secret: key.Reveal(), CA: s.CA}, err
}

// Handler answers clusters at DiscoveryPath, KeysPath and TokenPath.
func (s *Service) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+DiscoveryPath, func(w http.ResponseWriter, _ *http.Request) {
		oauth.WriteJSON(w, http.StatusOK, map[string]any{
			"issuer": s.issuer(), "authorization_endpoint": s.Home + AuthorizePath, "token_endpoint": s.Home + TokenPath, "jwks_uri": s.Home + KeysPath,
			"response_types_supported": []string{"code"}, "grant_types_supported": []string{"authorization_code"}, "subject_types_supported": []string{"public"},
			"id_token_signing_alg_values_supported": []string{string(jose.ES256)}, "scopes_supported": []string{"openid"}, "code_challenge_methods_supported": []string{"S256"},
			"token_endpoint_auth_methods_supported": []string{"client_secret_post", "client_secret_basic"},
			"claims_supported":                      []string{"iss", "sub", "aud", "exp", "iat", "nonce", "name", "preferred_username", "groups"},
		})
	})
	mux.HandleFunc("GET "+KeysPath, func(w http.ResponseWriter, _ *http.Request) {
		oauth.WriteJSON(w, http.StatusOK, jose.JSONWebKeySet{Keys: []jose.JSONWebKey{s.keys.signing.Public()}})
	})
	mux.HandleFunc("POST "+TokenPath, func(w http.ResponseWriter, r *http.Request) {
		s.door.Answer(w, r, func(ctx context.Context) (any, error) { return s.giveToken(ctx, r) })
	})
	return mux
}

// Request is what a cluster asks for through a browser (OpenID Connect Core 1.0, 3.1.2.1).
type Request struct {
	Cluster, Redirect, State, Nonce, Challenge string
}

// ReadRequest reads the parameters of the page to which a cluster sent a browser. Its errors are *app.Error.
func ReadRequest(q url.Values) (Request, error) {
	r := Request{q.Get("client_id"), q.Get("redirect_uri"), q.Get("state"), q.Get("nonce"), q.Get("code_challenge")}
	var wrong []app.Field
	if got := q.Get("response_type"); got != "code" {
		wrong = append(wrong, app.Field{Name: "response_type", Detail: fmt.Sprintf("It is %.40q.", got), Accept: []string{"code"}})
	}
	if !slices.Contains(strings.Fields(q.Get("scope")), "openid") {
		wrong = append(wrong, app.Field{Name: "scope", Detail: "It has no openid.", Accept: []string{"openid"}})
	}
	if !strings.HasPrefix(r.Cluster, app.ClusterIDPrefix) {
		wrong = append(wrong, app.Field{Name: "client_id", Detail: "It is not the id of a cluster."})
	}
	if (r.Challenge != "" || q.Get("code_challenge_method") != "") && (!oauth.IsChallenge(r.Challenge) || q.Get("code_challenge_method") != "S256") {
		wrong = append(wrong, app.Field{Name: "code_challenge", Detail: "It is not a SHA-256 in base64url with the method S256."})
	}
	if len(wrong) > 0 {
		return r, &app.Error{Kind: app.Invalid, Message: "This is not a sign-in to a cluster's console. Open the console again.", Fields: wrong}
	}
	return r, nil
}

// Authorize returns where to send the browser of a person who signs in to a cluster's console. A browser is only sent to that cluster's own OAuth
// server. An error of the kind Conflict: they have to ask for access first.
func (s *Service) Authorize(ctx context.Context, p policy.Principal, r Request, origin app.Origin) (secret.Text, error) {
	row, err := s.App.Cluster(ctx, p, r.Cluster)
	if err != nil {
		return secret.Text{}, err
	}
	if want := (names.Scope{Name: row.Name, BaseDomain: row.BaseDomain}).OpenIDRedirect(); r.Redirect != want {
		return secret.Text{}, &app.Error{Kind: app.Invalid, Message: fmt.Sprintf("This sign-in does not lead to the console of %s. Open the console again.", row.Name),
			Fields: []app.Field{{Name: "redirect_uri", Detail: fmt.Sprintf("It is %.200q.", r.Redirect), Accept: []string{want}}}}
	}
	given, err := s.Credentials.SignInToConsole(ctx, p, row, origin)
	if err != nil {
		return secret.Text{}, err
	}
	code, err := s.sealCode(code{Access: given.ID, Cluster: row.ID, Redirect: r.Redirect, Nonce: r.Nonce, Challenge: r.Challenge, ID: rand.Text()})
	if err != nil {
		return secret.Text{}, err
	}
	return secret.New(r.Redirect + "?" + url.Values{"code": {code}, "state": {r.State}}.Encode()), nil
}

var (
	errClient = &oauth.Refusal{Code: oauth.InvalidClient, Text: "The client's id and secret are not those of a cluster of this server."}
	errGrant  = &oauth.Refusal{Code: "invalid_grant", Text: "The code is not valid: it is of another sign-in, was used, is older than a minute, or the access that it is for has ended."}
)

// clientOf returns which cluster a request is from, by its secret.
func (s *Service) clientOf(r *http.Request) (cluster string, err error) {
	cluster, given := r.PostForm.Get("client_id"), r.PostForm.Get("client_secret")
	if id, password, basic := r.BasicAuth(); basic {
		cluster, given = id, password
	}
	key, err := s.keys.clientSecret(cluster)
	if err != nil {
		return "", err
	}
	if !strings.HasPrefix(cluster, app.ClusterIDPrefix) || subtle.ConstantTimeCompare([]byte(key.Reveal()), []byte(given)) != 1 {
		return "", s.refuse(r.Context(), fmt.Sprintf("%.40s", cluster), "secret of the client", errClient)
	}
	return cluster, nil
}

// refuse logs why a cluster gets no token, because the cluster's own page does not tell people.
func (s *Service) refuse(ctx context.Context, cluster, reason string, said *oauth.Refusal) error {
	s.Log.WarnContext(ctx, "sign-in to a console refused", "cluster", cluster, "reason", reason)
	return said
}

// tokens is the response of OpenID Connect Core 1.0, 3.1.3.3. The access token opens nothing: all claims are in the ID token.
type tokens struct {
	Access    string `json:"access_token"`
	Type      string `json:"token_type"`
	ExpiresIn int    `json:"expires_in"`
	ID        string `json:"id_token"`
}

// giveToken gives a cluster the ID token for a code. The cluster's operator asks with another grant whether passwords can be sent here
// (cluster-authentication-operator, checkOIDCPasswordGrantFlow), and unsupported_grant_type tells it that they cannot.
func (s *Service) giveToken(ctx context.Context, r *http.Request) (any, error) {
	cluster, err := s.clientOf(r)
	if err != nil {
		return nil, err
	}
	if grant := r.PostForm.Get("grant_type"); grant != "authorization_code" {
		return nil, &oauth.Refusal{Code: "unsupported_grant_type", Text: "grant_type can only be authorization_code."}
	}
	c, err := s.openCode(r.PostForm.Get("code"))
	if err != nil || c.Cluster != cluster || c.Redirect != r.PostForm.Get("redirect_uri") || !c.matchesVerifier(r.PostForm.Get("code_verifier")) {
		return nil, s.refuse(ctx, cluster, "code", errGrant)
	}
	fresh, err := s.Spend(ctx, c.hash(), s.Now().Add(2*codeLasts))
	if err != nil {
		return nil, err
	}
	if !fresh {
		return nil, s.refuse(ctx, cluster, "code used before", errGrant)
	}
	given, open, err := s.Credentials.IsConsoleOpen(ctx, cluster, c.Access)
	if err != nil {
		return nil, err
	}
	if !open {
		return nil, s.refuse(ctx, cluster, "access has ended", errGrant)
	}
	return s.newTokens(given, c.Nonce)
}

func (s *Service) newTokens(given access.Row, nonce string) (tokens, error) {
	signed, err := s.signIdentity(given, nonce)
	return tokens{rand.Text(), "Bearer", int(tokenLasts.Seconds()), signed}, err
}
