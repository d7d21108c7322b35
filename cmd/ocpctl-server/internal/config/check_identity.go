package config

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/internal/duration"
	"github.com/ocpctl/ocpctl/internal/secret"
	"github.com/ocpctl/ocpctl/profiles"
)

var (
	accountForm      = regexp.MustCompile(`^\d{12}$`)
	organizationForm = regexp.MustCompile(`^o-[a-z0-9]{10,32}$`)
)

// The limits of a person's session: at most a working day, and long enough to be useful.
const (
	shortestSession = 5 * time.Minute
	longestSession  = 12 * time.Hour
)

// checkIdentity checks whom the server trusts to identify people and programs.
func (c Config) checkIdentity() []error {
	var bad []error
	wrong := func(format string, args ...any) { bad = append(bad, fmt.Errorf(format, args...)) }
	for i, issuer := range c.OIDC {
		if !isURL(issuer.Issuer, "http", "https") {
			wrong("oidc[%d].issuer is %q; give the issuer's https:// address", i, maskURL(issuer.Issuer))
		}
		if strings.ContainsAny(issuer.Issuer, "#?@ ") {
			wrong("oidc[%d].issuer contains # ? @ or a space; give only the address, because it is part of principal ids, where # ends it", i)
		}
		if issuer.Issuer != "" && issuer.Issuer == c.UIURL {
			wrong("oidc[%d].issuer is ui_url, which issues the server's own sessions; give another issuer", i)
		}
		if issuer.Roles && (issuer.Platform != "" || profiles.PlatformOf(issuer.Issuer) != "") {
			wrong("oidc[%d].roles is true, but this issuer gives tokens to jobs of pipelines, and anybody who may start a job gets one; set it to false, and give roles by identities with this issuer in the catalogue", i)
		}
		if p := issuer.Platform; p != "" && !slices.Contains(profiles.IssuerPlatforms, p) {
			wrong("oidc[%d].platform is %q; give one of %s, or omit it", i, p, strings.Join(profiles.IssuerPlatforms, ", "))
		}
	}
	if m := c.SAML.Metadata; strings.Contains(m, "://") && !isURL(m, "http", "https") {
		wrong("saml.metadata is %q; give the https:// address of the identity provider's metadata, or a file", maskURL(m))
	}
	if c.SAML.Metadata == "" && (c.SAML.KeyRef != "" || c.SAML.EntityID != "") {
		wrong("saml.metadata is empty; give the https:// address of the identity provider's metadata, or a file")
	}
	if ref := c.SAML.KeyRef; ref != "" && !isRef(ref) {
		wrong("saml.key_ref is not a reference; give a reference (%s) to an RSA or ECDSA key and its certificate (PEM), or omit it", secret.References)
	}
	for i, account := range c.AWS.Accounts {
		if !accountForm.MatchString(account) {
			wrong("aws.accounts[%d] is %q; give an AWS account's 12 digits", i, account)
		}
	}
	for i, organization := range c.AWS.Organizations {
		if !organizationForm.MatchString(organization) {
			wrong("aws.organizations[%d] is %q; give an AWS organization's id, e.g. o-a1b2c3d4e5", i, organization)
		}
	}
	for i, endpoint := range c.AWS.STSEndpoints {
		if !isURL(endpoint, "http", "https") || strings.Count(strings.TrimSuffix(endpoint, "/"), "/") != 2 {
			wrong("aws.sts_endpoints[%d] is %q; give https://host of an STS endpoint", i, maskURL(endpoint))
		}
	}
	if len(c.AWS.STSEndpoints) > 0 && !c.AWS.On() {
		wrong("aws.accounts and aws.organizations are empty; give the accounts or organizations that may sign in, or omit aws")
	}
	return slices.Concat(bad, c.checkSession(), c.checkConsole())
}

// checkConsole checks how people sign in to consoles. OpenShift takes an OpenID provider over https alone (cluster-authentication-operator, isValidURL).
func (c Config) checkConsole() []error {
	var bad []error
	switch openID := c.Console.SignIn == ConsoleOpenID; {
	case !openID && c.Console.SignIn != ConsoleAccounts:
		bad = append(bad, fmt.Errorf("console.sign_in is %q; give %s or %s", c.Console.SignIn, ConsoleAccounts, ConsoleOpenID))
	case !openID && c.Console.CAFile != "":
		bad = append(bad, fmt.Errorf("console.ca_file is set, but console.sign_in is not %s; omit it, or set that", ConsoleOpenID))
	case openID && c.SAML.Metadata == "":
		bad = append(bad, fmt.Errorf("console.sign_in is %s, but nobody can sign in to the pages; set saml.metadata", ConsoleOpenID))
	case openID && !isURL(c.UIURL, "https"):
		bad = append(bad, fmt.Errorf("console.sign_in is %s, but ui_url is %q; give an https:// address, because OpenShift takes no other", ConsoleOpenID, maskURL(c.UIURL)))
	}
	return bad
}

func (c Config) checkSession() []error {
	var bad []error
	const key = "an Ed25519 key (PKCS#8 PEM)"
	switch ref := c.Session.KeyRef; {
	case ref == "" && (c.SAML.Metadata != "" || c.AWS.On()):
		bad = append(bad, fmt.Errorf("session.key_ref is empty; saml and aws need a reference (%s) to %s", secret.References, key))
	case ref != "" && !isRef(ref):
		bad = append(bad, fmt.Errorf("session.key_ref is not a reference; give a reference (%s) to %s", secret.References, key))
	case ref != "" && ref == c.Runner.StatusKeyRef:
		bad = append(bad, fmt.Errorf("session.key_ref is runner.status_key_ref; use a separate key, so that each can be replaced independently"))
	}
	if ref := c.Metrics.TokenRef; ref != "" && !isRef(ref) {
		bad = append(bad, fmt.Errorf("metrics.token_ref is not a reference; give a reference (%s) to a token for Prometheus, or omit it", secret.References))
	}
	if l := c.Session.Life; l < shortestSession || l > longestSession {
		bad = append(bad, fmt.Errorf("session.life is %s; give %s to %s", duration.Typed(l), duration.Typed(shortestSession), duration.Typed(longestSession)))
	}
	if _, err := time.Parse(time.RFC3339, c.Session.NotBefore); c.Session.NotBefore != "" && err != nil {
		bad = append(bad, fmt.Errorf("session.not_before is %q; give a time like 2026-01-31T12:00:00Z", c.Session.NotBefore))
	}
	return bad
}
