package profiles

import (
	"net/url"
	"regexp"
	"strings"
)

// IssuerPlatform is what an OIDC issuer gives tokens to.
type IssuerPlatform string

// The platforms that tokens are read of. Tokens of other issuers are of people or of programs that nothing more is known of.
const (
	IssuerGitHub     IssuerPlatform = "github"     // jobs of GitHub Actions
	IssuerKubernetes IssuerPlatform = "kubernetes" // service accounts
	IssuerGitLab     IssuerPlatform = "gitlab"     // jobs of GitLab CI
)

// IssuerPlatforms lists them.
var IssuerPlatforms = []string{string(IssuerGitHub), string(IssuerKubernetes), string(IssuerGitLab)}

const (
	// gitHubActions issues the tokens of all workflows on github.com. An enterprise can have its slug added to the path.
	// https://docs.github.com/enterprise-cloud@latest/actions/reference/security/oidc
	gitHubActions = "https://token.actions.githubusercontent.com"
	// serverPath ends the issuer of a GitHub Enterprise Server.
	// https://docs.github.com/enterprise-server@latest/actions/reference/security/oidc
	serverPath = "/_services/token"

	gitHubCom = "https://github.com"
	gitLabCom = "https://gitlab.com"

	residencyHost = ".ghe.com"
)

// residency is the host of the issuer of an enterprise with data residency.
// https://docs.github.com/enterprise-cloud@latest/admin/data-residency
var residency = regexp.MustCompile(`^token\.actions\.([a-z0-9-]+)\.ghe\.com$`)

// PlatformOf returns the platform of an issuer by its address; empty: the address does not show it.
func PlatformOf(issuer string) IssuerPlatform {
	switch {
	case GitHubOf(issuer) != "":
		return IssuerGitHub
	case strings.TrimSuffix(issuer, "/") == gitLabCom:
		return IssuerGitLab
	}
	return ""
}

// GitHubOf returns the address of the GitHub whose workflows get an issuer's tokens, e.g. https://github.com; empty: the issuer's
// address does not show it.
func GitHubOf(issuer string) string {
	issuer = strings.TrimSuffix(issuer, "/")
	if issuer == gitHubActions || strings.HasPrefix(issuer, gitHubActions+"/") {
		return gitHubCom
	}
	u, err := url.Parse(issuer)
	if err != nil || u.Host == "" {
		return ""
	}
	if of := residency.FindStringSubmatch(u.Host); of != nil {
		return "https://" + of[1] + residencyHost
	}
	if u.Path == serverPath {
		return u.Scheme + "://" + u.Host
	}
	return ""
}

// JobIssuer returns the issuer of the tokens of a GitHub's jobs by its address: what GitHubOf reverses. Empty for no address.
func JobIssuer(site string) string {
	u, err := url.Parse(site)
	switch {
	case err != nil || u.Host == "":
		return ""
	case site == gitHubCom:
		return gitHubActions
	case strings.HasSuffix(u.Host, residencyHost):
		return "https://token.actions." + u.Host
	}
	return strings.TrimSuffix(site, "/") + serverPath
}
