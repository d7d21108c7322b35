package oidc

import (
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"path/filepath"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"github.com/ocpctl/ocpctl/devstack/file"
	"github.com/ocpctl/ocpctl/devstack/must"
)

// Life is how long a token is valid.
const Life = 30 * 24 * time.Hour

// Claims are a token's content. Token fills in empty times and the audience.
type Claims struct {
	Issuer   string           `json:"iss"`
	Audience jwt.Audience     `json:"aud"`
	Subject  string           `json:"sub"`
	Name     string           `json:"name,omitempty"`
	Groups   []string         `json:"groups,omitempty"` // teams
	Role     string           `json:"ocpctl_role,omitempty"`
	IssuedAt *jwt.NumericDate `json:"iat"`
	Expiry   *jwt.NumericDate `json:"exp"`
	More     map[string]any   `json:"-"` // more claims, such as those of a workflow's token
}

// Requester, Admin and Auditor are the demo's principals by role; the others are tokens in the form of GitHub Actions and Kubernetes.
var (
	Requester = Claims{Subject: "maya", Name: "Maya", Groups: []string{"platform"}, Role: "requester"}
	Admin     = Claims{Subject: "admin", Name: "Demo admin", Groups: []string{"platform"}, Role: "platform_admin"}
	Auditor   = Claims{Subject: "auditor", Name: "Demo auditor", Role: "auditor"}

	GitHubActions = Claims{Subject: "repo:acme/shop:ref:refs/heads/main", More: map[string]any{
		"repository": "acme/shop", "repository_id": "1001", "repository_owner": "acme", "repository_owner_id": "1000", "ref": "refs/heads/main", "ref_type": "branch", "event_name": "push",
		"sha": "6dcb09b5b57875f334f61aebed695e2e4193db5e", "base_ref": "", "head_ref": "", "runner_environment": "github-hosted",
		"actor": "maya", "run_id": "7001", "run_number": "12", "run_attempt": "1", "check_run_id": "9001", "workflow": "e2e", "repository_visibility": "private",
		"job_workflow_ref": "acme/shop/.github/workflows/e2e.yml@refs/heads/main",
	}}
	Kubernetes = Claims{Subject: "system:serviceaccount:ci:builder", More: map[string]any{"kubernetes.io": map[string]any{
		"namespace": "ci", "serviceaccount": map[string]any{"name": "builder", "uid": "6a1b2c3d-0000-4000-8000-000000000001"},
		"pod": map[string]any{"name": "e2e-1", "uid": "6a1b2c3d-0000-4000-8000-000000000002"},
	}}}
)

// Time is a point in time as tokens have it.
func Time(at time.Time) *jwt.NumericDate { return jwt.NewNumericDate(at) }

// Token signs the claims. Empty issuer, audience and times become this issuer, Audience, now and Life.
func (i *Issuer) Token(c Claims) (_ string, err error) {
	defer must.Catch(&err)
	now := i.now().UTC()
	if c.Issuer == "" {
		c.Issuer = i.url
	}
	if c.Audience == nil {
		c.Audience = jwt.Audience{Audience}
	}
	if c.IssuedAt == nil {
		c.IssuedAt = jwt.NewNumericDate(now)
	}
	if c.Expiry == nil {
		c.Expiry = jwt.NewNumericDate(now.Add(Life))
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.RS256, Key: i.key}, (&jose.SignerOptions{}).WithType("JWT"))
	must.Wrap(err, "prepare to sign a token for %q", c.Subject)
	raw, err := jwt.Signed(signer).Claims(c).Claims(c.More).Serialize()
	must.Wrap(err, "sign a token for %q", c.Subject)
	return raw, nil
}

// WriteTokens writes requester.jwt, admin.jwt, auditor.jwt, github-actions.jwt and kubernetes.jwt to dir, readable only by their
// owner.
func (i *Issuer) WriteTokens(dir string) (err error) {
	defer must.Catch(&err)
	for name, claims := range map[string]Claims{
		"requester": Requester, "admin": Admin, "auditor": Auditor, "github-actions": GitHubActions, "kubernetes": Kubernetes,
	} {
		raw := must.Get(i.Token(claims))
		must.Do(file.Replace(filepath.Join(dir, name+".jwt"), []byte(raw+"\n")))
	}
	return nil
}

func keyID(key *rsa.PrivateKey) string {
	sum := sha256.Sum256(x509.MarshalPKCS1PublicKey(&key.PublicKey))
	return hex.EncodeToString(sum[:8])
}
