package names

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// APIURL is the URL of the cluster's API, as the installer publishes it.
func (s Scope) APIURL() string {
	if s.Server != "" {
		return s.Server
	}
	return "https://api." + s.Domain() + ":6443"
}

// ConsoleURL is the URL of the cluster's console, as the installer publishes it; empty: it has none of its own.
func (s Scope) ConsoleURL() string {
	if s.Server != "" {
		return ""
	}
	return "https://console-openshift-console.apps." + s.Domain()
}

// OpenIDRedirect is where the cluster's OAuth server takes what its OpenID provider sends back with a browser (openshift/oauth-server, OpenShiftOAuthCallbackPrefix).
func (s Scope) OpenIDRedirect() string {
	return "https://oauth-openshift.apps." + s.Domain() + "/oauth2callback/" + OpenIDProvider
}

// CheckURL returns nil if raw is an https address of a host of this cluster, without credentials in it. People are sent
// there, so its host must not be anybody else's.
func (s Scope) CheckURL(raw string) error {
	if s.Server != "" {
		return s.checkServer(raw)
	}
	u, err := url.Parse(raw)
	switch {
	case err != nil:
		return fmt.Errorf("%.80q is not a URL", raw)
	case u.Scheme != "https" || u.Opaque != "":
		return fmt.Errorf("%.80q is not an https URL", raw)
	case u.User != nil:
		return fmt.Errorf("%.80q contains credentials", u.Redacted())
	case !strings.HasSuffix(u.Hostname(), "."+s.Domain()):
		return fmt.Errorf("%.80q is not a host of this cluster", u.Host)
	case u.Port() != "" && u.Port() != "443" && u.Port() != "6443":
		return fmt.Errorf("%.80q has a port that no cluster publishes", u.Host)
	case strings.ContainsAny(raw, " <>\"'`\\|\t\r\n"):
		return fmt.Errorf("%.80q contains characters that have to be escaped in a URL", raw)
	}
	return nil
}

// balancerURL is the address of an API at a load balancer whose name or IPv4 address only the hub knows.
var balancerURL = regexp.MustCompile(`^https://([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)+[a-z0-9-]*[a-z0-9]:6443$`)

// CheckAPIURL returns nil if raw can be the address of this cluster's API. That of a hosted control plane is whichever its hub's load balancer got:
// then only its form is checked.
func (s Scope) CheckAPIURL(raw string) error {
	if s.Platform != Kubernetes || s.Server != "" {
		return s.CheckURL(raw)
	}
	if !balancerURL.MatchString(raw) {
		return fmt.Errorf("%.80q is not the address of an API at a load balancer", raw)
	}
	return nil
}

// MaxLinks is how many addresses of what runs in a cluster are shown.
const MaxLinks = 10

// appURL is an address that a Route can have: no credentials, no port, nothing that has to be escaped in a text.
var appURL = regexp.MustCompile(`^https?://((?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z0-9-]+)(?:/[A-Za-z0-9._~%/+=:,-]*)?$`)

const (
	maxAppURL = 300
	maxTitle  = 60
)

// CheckAppURL returns nil if raw is the http or https address of something that runs in this cluster, as a user of the cluster gave it. People
// follow it, so its host must be below the cluster's own apps domain, which nobody else can serve.
func (s Scope) CheckAppURL(raw string) error {
	found := appURL.FindStringSubmatch(raw)
	switch {
	case found == nil || len(raw) > maxAppURL:
		return fmt.Errorf("%.80q is not the address of a Route", raw)
	case !strings.HasSuffix(found[1], ".apps."+s.Domain()):
		return fmt.Errorf("%.80q is not a host of this cluster's apps", found[1])
	}
	return nil
}

// LinkTitle returns the title of such an address as one short line of visible characters.
func LinkTitle(raw string) string {
	title := []rune(strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsPrint(r) || r == utf8.RuneError:
			return -1
		}
		return r
	}, raw)), " "))
	if len(title) > maxTitle {
		return string(title[:maxTitle-1]) + "…"
	}
	return string(title)
}
