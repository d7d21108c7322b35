package github

import (
	"cmp"
	"crypto/rand"
	"net/http"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/devstack/github/runs"
	"github.com/ocpctl/ocpctl/devstack/oidc"
)

// issuerPath is where the issuer of jobs' tokens is, as on GitHub Enterprise Server.
const issuerPath = "/_services/token"

// idTokenPath is where a job asks for its tokens.
const idTokenPath = "/_actions/idtoken/"

// idTokenLife is how long a token is valid, as on GitHub.
const idTokenLife = 5 * time.Minute

// mayIdentify reports whether a job may ask for tokens: with permissions: id-token: write, and not for a fork's pull request. A
// pull_request_target may, because it runs what the base has.
func mayIdentify(run Run, j Job) bool {
	return j.IDToken && (run.HeadOwner == "" || run.Event != "pull_request")
}

// idTokenAccess makes the environment with which a job that runs asks for its tokens.
func (s *Server) idTokenAccess(job int64) (env map[string]string, token string) {
	token = rand.Text() + rand.Text()
	s.idTokens.Store(job, hashOf(token))
	return map[string]string{
		"ACTIONS_ID_TOKEN_REQUEST_URL":   s.base + idTokenPath + itoa(job) + "?api-version=2.0",
		"ACTIONS_ID_TOKEN_REQUEST_TOKEN": token,
	}, token
}

func (s *Server) forgetIDToken(job int64) { s.idTokens.Delete(job) }

// getIDToken answers a job with its token, for an audience that it chooses.
// https://docs.github.com/actions/reference/security/oidc
func (s *Server) getIDToken(w http.ResponseWriter, r *http.Request) {
	raw, _ := bearer(r)
	job := id(r, "job")
	if known, ok := s.idTokens.Load(job); !ok || known != hashOf(raw) {
		complain(w, http.StatusUnauthorized, string(badCredentials))
		return
	}
	token, err := s.IDToken(job, r.URL.Query().Get("audience"))
	if err != nil {
		fail(w, err, "IDToken", "job")
		return
	}
	answer(w, http.StatusOK, object{"count": len(token), "value": token})
}

// IDToken signs the token of a job that is in progress. An empty audience is GitHub's own: the URL of the repository's owner.
func (s *Server) IDToken(job int64, audience string) (string, error) {
	var claims map[string]any
	s.look(func(w *world) {
		for _, repo := range w.Repos {
			if run, j := repo.jobByID(job); j != nil && j.Status == runs.InProgress {
				sc := w.scene(s, repo)
				claims = sc.claims(*run, *j)
				audience = cmp.Or(audience, sc.web()+repo.owner())
			}
		}
	})
	if claims == nil {
		return "", errNotFound
	}
	now := s.moment()
	subject := claims["sub"].(string)
	delete(claims, "sub")
	claims["jti"], claims["nbf"] = strings.ToLower(GUID()), now.Add(-10*time.Minute).Unix()
	return s.issuer.Token(oidc.Claims{
		Subject: subject, Audience: []string{audience}, IssuedAt: oidc.Time(now), Expiry: oidc.Time(now.Add(idTokenLife)), More: claims,
	})
}
