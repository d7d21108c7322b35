package aws

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"github.com/ocpctl/ocpctl/devstack/aws/iampolicy"
	"github.com/ocpctl/ocpctl/devstack/aws/session"
	"github.com/ocpctl/ocpctl/devstack/must"
)

var stsCalls = map[string]handler{
	"GetCallerIdentity": func(c *call) ([]node, error) {
		return []node{el("Arn", c.who.arn), el("UserId", c.who.userID), el("Account", cmp.Or(c.who.account, c.Account))}, nil
	},
	"AssumeRole": assumeRole,
	webIdentity:  assumeWithToken,
}

// Role can be assumed by callers who may call sts:AssumeRole. It belongs to the configured account, whatever SetAccount says, or to another one, and
// is not a resource: nothing lists or deletes it.
type Role struct {
	Name    string
	Policy  string // permissions of its sessions, before their own policy
	Account string // empty: the configured one
	Trust   string // its trust policy; empty: it trusts every caller
}

// AddRole adds a role, or replaces the one of this name in its account.
func (s *Server) AddRole(r Role) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cfg.Roles = append([]Role{r}, s.cfg.Roles...)
}

// AddCaller adds a caller.
func (s *Server) AddCaller(c Caller) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cfg.Callers = append(s.cfg.Callers, c)
}

// trusts reports whether the role's trust policy lets a caller assume it. A policy names a principal or, with root, everybody in its account who may.
func (r Role) trusts(who caller, externalID string) bool {
	if r.Trust == "" {
		return true
	}
	trust, err := iampolicy.ParseTrust(r.Trust)
	if err != nil {
		return false
	}
	keys := map[string][]string{}
	if externalID != "" {
		keys["sts:ExternalId"] = []string{externalID}
	}
	root := "arn:aws:iam::" + strings.Split(who.arn, ":")[4] + ":root"
	return trust.Trusts("AWS", who.principal(), "sts:AssumeRole", keys) || trust.Trusts("AWS", root, "sts:AssumeRole", keys)
}

// AWS's limits for AssumeRole: a session lives from 15 minutes to 12 hours, and its policy has a maximum length.
const (
	shortestSession   = 15 * time.Minute
	longestSession    = 12 * time.Hour
	defaultSession    = time.Hour
	longestPolicyText = 2048
)

func assumeRole(c *call) ([]node, error) {
	arn, name := c.params.get("RoleArn"), c.params.get("RoleSessionName")
	i := slices.IndexFunc(c.server.cfg.Roles, func(r Role) bool {
		return arn == "arn:aws:iam::"+cmp.Or(r.Account, c.server.cfg.Account)+":role/"+r.Name
	})
	must.EndIf(i < 0 || !c.server.cfg.Roles[i].trusts(c.who, c.params.get("ExternalId")), fault("AccessDenied", "User: %s is not authorized to perform: sts:AssumeRole on resource: %s", c.who.arn, arn))
	lasts := must.Get(c.sessionLength(name))
	policy := c.params.get("Policy")
	must.EndIf(len(policy) > longestPolicyText,
		fault("PackedPolicyTooLarge", "PackedPolicySize: the session policy has %d characters, and %d are allowed", len(policy), longestPolicyText))
	if policy != "" {
		if _, err := iampolicy.Parse(policy); err != nil {
			return nil, fault("MalformedPolicyDocument", "%s", err)
		}
	}
	role := c.server.cfg.Roles[i]
	s, token := must.Get2(session.New(c.server.cfg.SecretKey, session.Session{
		ARN: "arn:aws:sts::" + cmp.Or(role.Account, c.server.cfg.Account) + ":assumed-role/" + role.Name + "/" + name, RolePolicy: role.Policy, Policy: policy,
		Expires: time.Now().UTC().Add(lasts).Truncate(time.Second),
	}))
	return []node{credentialsNode(s, token), assumedRole(s, "AROA"+strings.ToUpper(role.Name), name)}, nil
}

// sessionLength checks a session's name and returns how long it is asked to last.
func (c *call) sessionLength(name string) (time.Duration, error) {
	if !plainSession.MatchString(name) {
		return 0, fault("ValidationError", "Value '%s' at 'roleSessionName' failed to satisfy constraint", name)
	}
	lasts := defaultSession
	if seconds := c.params.number("DurationSeconds"); seconds != 0 {
		lasts = time.Duration(seconds) * time.Second
	}
	if lasts < shortestSession || lasts > longestSession {
		return 0, fault("ValidationError", "The requested DurationSeconds is not between %.0f and %.0f", shortestSession.Seconds(), longestSession.Seconds())
	}
	return lasts, nil
}

func credentialsNode(s session.Session, token string) node {
	return group("Credentials", el("AccessKeyId", s.AccessKey), el("SecretAccessKey", s.SecretKey), el("SessionToken", token),
		el("Expiration", s.Expires.Format(time.RFC3339)))
}

func assumedRole(s session.Session, id, name string) node {
	return group("AssumedRoleUser", el("Arn", s.ARN), el("AssumedRoleId", id+":"+name))
}

// webIdentity is the one call of STS without a signature: its caller proves with a token of an issuer whom it is.
const webIdentity = "AssumeRoleWithWebIdentity"

// isWebIdentity reports that a request is that call.
func isWebIdentity(r *http.Request, body []byte) bool {
	form, err := url.ParseQuery(string(body))
	return err == nil && r.Header.Get("Authorization") == "" && form.Get("Action") == webIdentity
}

// tokenClaims are what is read of a token.
type tokenClaims struct {
	jwt.Claims
	// Tags ask for tags of the token's own, which would replace those of the role
	// (https://docs.aws.amazon.com/IAM/latest/UserGuide/id_session-tags.html).
	Tags any `json:"https://aws.amazon.com/tags"`
}

// assumeWithToken gives the credentials of a role to whom its trust policy names: the token's issuer is an identity provider of the account,
// which knows the token's audience, and the role trusts this provider and subject.
func assumeWithToken(c *call) ([]node, error) {
	arn, name, raw := c.params.get("RoleArn"), c.params.get("RoleSessionName"), c.params.get("WebIdentityToken")
	token, err := jwt.ParseSigned(raw, []jose.SignatureAlgorithm{jose.RS256})
	if err != nil {
		return nil, fault("InvalidIdentityToken", "The ID Token provided is not a valid JWT: %s", err)
	}
	var unverified tokenClaims
	if err := token.UnsafeClaimsWithoutVerification(&unverified); err != nil {
		return nil, fault("InvalidIdentityToken", "The ID Token provided is not a valid JWT: %s", err)
	}
	issuer := strings.TrimPrefix(unverified.Issuer, "https://")
	provider := c.named("oidc-provider", issuer)
	must.EndIf(provider == nil, fault("InvalidIdentityToken", "No OpenIDConnect provider found in your account for %s", unverified.Issuer))
	keys, err := c.server.issuerKeys(issuer)
	if err != nil {
		return nil, fault("InvalidIdentityToken", "Couldn't retrieve verification key from your identity provider: %s", err)
	}
	var claims tokenClaims
	if err := token.Claims(keys, &claims); err != nil {
		return nil, fault("InvalidIdentityToken", "The ID Token provided has no valid signature: %s", err)
	}
	if err := claims.ValidateWithLeeway(jwt.Expected{Time: time.Now()}, time.Minute); err != nil {
		return nil, fault("ExpiredTokenException", "Token expired: %s", err)
	}
	must.EndIf(!slices.ContainsFunc(claims.Audience, func(audience string) bool { return slices.Contains(provider.vals("clients"), audience) }),
		fault("InvalidIdentityToken", "Incorrect token audience"))
	role := c.named("role", arn[strings.LastIndex(arn, "/")+1:])
	must.EndIf(role == nil || role.ARN() != arn || !trusts(role, provider, issuer, claims),
		fault("AccessDenied", "Not authorized to perform sts:AssumeRoleWithWebIdentity"))
	lasts := must.Get(c.sessionLength(name))
	s, opened := must.Get2(c.roleSession(role, name, lasts))
	return []node{credentialsNode(s, opened), assumedRole(s, role.Attrs["uniqueId"], name), el("SubjectFromWebIdentityToken", claims.Subject),
		el("Audience", strings.Join(claims.Audience, ",")), el("Provider", provider.ARN())}, nil
}

// trusts reports whether a role trusts the subject of a provider's token. A token that asks for session tags needs sts:TagSession, too.
func trusts(role, provider *Resource, issuer string, claims tokenClaims) bool {
	trust, err := iampolicy.ParseTrust(role.Attrs["trust"])
	if err != nil {
		return false
	}
	keys := map[string][]string{issuer + ":sub": {claims.Subject}, issuer + ":aud": claims.Audience}
	return trust.Trusts("Federated", provider.ARN(), "sts:"+webIdentity, keys) &&
		(claims.Tags == nil || trust.Trusts("Federated", provider.ARN(), "sts:TagSession", keys))
}

// roleSession creates the credentials of a role: its inline policies, its boundary and its tags are those of this moment.
func (c *call) roleSession(role *Resource, name string, lasts time.Duration) (_ session.Session, _ string, err error) {
	defer must.Catch(&err)
	var merged struct {
		Version   string
		Statement []json.RawMessage
	}
	merged.Version = "2012-10-17"
	for _, p := range c.Every(func(r *Resource) bool {
		return r.Type == "policy" && r.Account == role.Account && slices.Contains(r.Uses, role.ID)
	}) {
		one := merged
		one.Statement = nil
		if err := json.Unmarshal([]byte(p.Attrs["document"]), &one); err != nil {
			return session.Session{}, "", fault("MalformedPolicyDocument", "%s", err)
		}
		merged.Statement = append(merged.Statement, one.Statement...)
	}
	if len(merged.Statement) == 0 { // a role without policies may do nothing
		merged.Statement = []json.RawMessage{json.RawMessage(`{"Effect":"Deny","Action":"*","Resource":"*"}`)}
	}
	policy := must.Get(json.Marshal(merged))
	boundary, known := c.server.cfg.Boundaries[role.Attrs["boundary"]]
	must.EndIf(role.Attrs["boundary"] != "" && !known, fault("NoSuchEntity", "Policy %s does not exist.", role.Attrs["boundary"]))
	return session.New(c.server.cfg.SecretKey, session.Session{
		ARN:        "arn:aws:sts::" + role.Account + ":assumed-role/" + role.Name + "/" + name,
		RolePolicy: string(policy), Boundary: boundary, Tags: role.Tags, Expires: time.Now().UTC().Add(lasts).Truncate(time.Second),
	})
}

// InstanceCredentials returns what the metadata service of an instance answers to whoever asks it there: the credentials of the role in its
// instance profile.
func (s *Server) InstanceCredentials(id string) (of session.Session, token string, err error) {
	defer must.Catch(&err)
	s.mu.Lock()
	defer s.mu.Unlock()
	c := &call{server: s, world: s.world}
	instance := c.First(func(r *Resource) bool { return r.ID == id && r.Type == "instance" })
	must.FailIf(instance == nil, "no instance %s", id)
	profile := c.named("instance-profile", instance.Attrs["profile"])
	must.FailIf(profile == nil || len(profile.Uses) == 0, "instance %s has no role", id)
	return c.roleSession(c.named("role", strings.TrimPrefix(profile.Uses[0], "role/")), id, time.Hour)
}

// RoleCredentials returns the credentials of a role, for whoever has a token that it trusts.
func (s *Server) RoleCredentials(name string) (of session.Session, token string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := &call{server: s, world: s.world}
	role := c.named("role", name)
	if role == nil {
		return of, "", fmt.Errorf("no role %s", name)
	}
	return c.roleSession(role, "attacker", time.Hour)
}

// issuerKeys reads an issuer's documents, as anybody may. Its host is a bucket's, which is on the stand-in S3.
func (s *Server) issuerKeys(issuer string) (_ *jose.JSONWebKeySet, err error) {
	defer must.Catch(&err)
	var discovery struct {
		Issuer string
		Keys   string `json:"jwks_uri"`
	}
	must.Do(s.issuerDocument("https://"+issuer+"/.well-known/openid-configuration", &discovery))
	must.FailIf(discovery.Issuer != "https://"+issuer, "its discovery document is of %s", discovery.Issuer)
	var keys jose.JSONWebKeySet
	return &keys, s.issuerDocument(discovery.Keys, &keys)
}

func (s *Server) issuerDocument(address string, into any) (err error) {
	defer must.Catch(&err)
	at := must.Get(url.Parse(address))
	bucket, _, isBucket := strings.Cut(at.Host, ".s3.")
	must.FailIf(!isBucket || s.cfg.Buckets == "", "%s is no bucket of the stand-in S3", at.Host)
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	r := must.Get(http.NewRequestWithContext(ctx, http.MethodGet, s.cfg.Buckets+"/"+bucket+at.Path, nil))
	answer := must.Get(http.DefaultClient.Do(r))
	defer answer.Body.Close()
	must.FailIf(answer.StatusCode != http.StatusOK, "%s: status %d", address, answer.StatusCode)
	return json.NewDecoder(io.LimitReader(answer.Body, largest)).Decode(into)
}
