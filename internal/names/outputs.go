package names

import (
	"fmt"
	"net/url"
	"strings"
)

// APIURL is the URL of the cluster's API, as the installer publishes it.
func (s Scope) APIURL() string { return "https://api." + s.Domain() + ":6443" }

// ConsoleURL is the URL of the cluster's console, as the installer publishes it.
func (s Scope) ConsoleURL() string { return "https://console-openshift-console.apps." + s.Domain() }

// OpenIDRedirect is where the cluster's OAuth server takes what its OpenID provider sends back with a browser (openshift/oauth-server, OpenShiftOAuthCallbackPrefix).
func (s Scope) OpenIDRedirect() string {
	return "https://oauth-openshift.apps." + s.Domain() + "/oauth2callback/" + OpenIDProvider
}

// CheckURL returns nil if raw is an https address of a host of this cluster, without credentials in it. People are sent
// there, so its host must not be anybody else's.
func (s Scope) CheckURL(raw string) error {
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
