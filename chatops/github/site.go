package github

import (
	"net/url"
	"strings"
)

// Site returns the website for an API's URL: github.com, an enterprise with data residency, an enterprise server, or the demo's
// stand-in. Empty: the URL is not valid.
func Site(api string) string {
	u, err := url.Parse(api)
	if err != nil || u.Host == "" {
		return ""
	}
	if host, ok := strings.CutPrefix(u.Host, "api."); ok && (host == "github.com" || strings.HasSuffix(host, ".ghe.com")) {
		return "https://" + host
	}
	return u.Scheme + "://" + u.Host + strings.TrimSuffix(strings.TrimSuffix(u.Path, "/"), "/api/v3")
}
