package config

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/internal/duration"
	"github.com/ocpctl/ocpctl/internal/secret"
)

const (
	leastGrace                    = 90 * time.Second // a runner gives its installer 70 s to end its own children
	leastRetention, mostRetention = 30 * 24 * time.Hour, 90 * 24 * time.Hour

	mostDrainDelay = 15 * time.Second // with the server's own 35 s it stays below a pod's termination grace of a minute

	leastKept = 7 * 24 * time.Hour // repeated deliveries are recognised for so long
)

// demoSecret is the prefix of every secret of the demo, which are public.
const demoSecret = "demo-"

// checkReal refuses what is allowed only in the demo.
func (c Config) checkReal() []error {
	var bad []error
	if c.Hour != time.Hour {
		bad = append(bad, fmt.Errorf("hour is %s; outside the demo an hour lasts 1h", duration.Typed(c.Hour)))
	}
	if c.Limits.VerifyGap < time.Minute {
		bad = append(bad, fmt.Errorf("limits.verify_gap is %s; outside the demo give 1m or more", duration.Typed(c.Limits.VerifyGap)))
	}
	if c.Limits.LeaseGrace < leastGrace {
		bad = append(bad, fmt.Errorf("limits.lease_grace is %s; outside the demo give %s or more: a runner whose lease has expired needs that long to stop its installer",
			duration.Typed(c.Limits.LeaseGrace), duration.Typed(leastGrace)))
	}
	if c.Limits.Keep < leastKept {
		bad = append(bad, fmt.Errorf("limits.keep is %s; outside the demo give %s or more: GitHub redelivers webhooks for days",
			duration.Typed(c.Limits.Keep), duration.Typed(leastKept)))
	}
	if r := c.Artifacts.Retention; r < leastRetention || r > mostRetention {
		bad = append(bad, fmt.Errorf("artifacts.retention is %s; outside the demo give %s to %s (30 to 90 days): long enough to investigate a teardown, and no longer",
			duration.Typed(r), duration.Typed(leastRetention), duration.Typed(mostRetention)))
	}
	if c.UIURL != "" && !isURL(c.UIURL, "https") {
		bad = append(bad, fmt.Errorf("ui_url is %s; outside the demo give an https:// address: sessions and tokens are sent to it", c.UIURL))
	}
	if s := c.Runner.StatusURL; s != "" && !isURL(s, "https") && !standIn(s) && !c.Runner.StatusPlain {
		bad = append(bad, fmt.Errorf("runner.status_url is %s; outside the demo give an https:// address, such as that of listen.runners: runners send their tokens there and get credentials of the bucket. "+
			"If nobody else can read the network between them, set runner.status_plain_http: true", maskURL(s)))
	}
	for _, e := range c.listEndpoints() {
		switch {
		case standIn(e.url):
			bad = append(bad, fmt.Errorf("%s is %s, a stand-in on this machine; only an installation with demo: true may use it", e.name, maskURL(e.url)))
		case !isURL(e.url, "https"):
			bad = append(bad, fmt.Errorf("%s is %s; outside the demo give an https:// address", e.name, maskURL(e.url)))
		}
	}
	if strings.HasPrefix(os.Getenv("AWS_SECRET_ACCESS_KEY"), demoSecret) {
		bad = append(bad, errors.New("AWS_SECRET_ACCESS_KEY is a publicly known secret of the demo; set a real one"))
	}
	return bad
}

type endpoint struct{ name, url string }

// listEndpoints returns the addresses that the server calls or trusts: GitHub's, Slack's, the identity providers', those of Kubernetes
// clusters with Tekton, and any that the AWS SDK or the runners' clients were configured with.
func (c Config) listEndpoints() []endpoint {
	list := []endpoint{{"github.api_url", c.GitHub.APIURL}, {"slack.api_url", c.Slack.APIURL}}
	for i, issuer := range c.OIDC {
		list = append(list, endpoint{fmt.Sprintf("oidc[%d].issuer", i), issuer.Issuer})
	}
	for i, cluster := range c.Tekton {
		list = append(list, endpoint{fmt.Sprintf("tekton[%d].api_url", i), cluster.APIURL})
	}
	if strings.Contains(c.SAML.Metadata, "://") {
		list = append(list, endpoint{"saml.metadata", c.SAML.Metadata})
	}
	for i, sts := range c.AWS.STSEndpoints {
		list = append(list, endpoint{fmt.Sprintf("aws.sts_endpoints[%d]", i), sts})
	}
	env := os.Environ()
	slices.Sort(env)
	for _, pair := range env { // AWS_ENDPOINT_URL, AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL_EC2 …
		if name, value, _ := strings.Cut(pair, "="); strings.HasPrefix(name, "AWS_ENDPOINT_URL") && value != "" {
			list = append(list, endpoint{name, value})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.Runner.Env)) {
		value := c.Runner.Env[name]
		if value != "" && (strings.HasPrefix(name, "AWS_ENDPOINT_URL") || strings.HasPrefix(name, "IBMCLOUD_") && strings.HasSuffix(name, "_ENDPOINT")) {
			list = append(list, endpoint{"runner.env." + name, value})
		}
	}
	return list
}

// standIn reports that an address is on this machine.
func standIn(raw string) bool {
	u, err := url.Parse(raw)
	if err != nil {
		return false
	}
	host := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	ip := net.ParseIP(host)
	return host == "localhost" || strings.HasSuffix(host, ".localhost") || (ip != nil && (ip.IsLoopback() || ip.IsUnspecified()))
}

// Secret looks a reference up. It refuses an empty secret and, outside the demo, one of the demo's.
func (c Config) Secret(ctx context.Context, field, ref string) (secret.Text, error) {
	found, err := secret.Lookup(ctx, ref)
	switch {
	case err != nil:
		return secret.Text{}, fmt.Errorf("%s: %w", field, err)
	case found.Empty():
		return secret.Text{}, fmt.Errorf("%s: %s is empty", field, ref)
	case !c.Demo && strings.HasPrefix(found.Reveal(), demoSecret):
		return secret.Text{}, fmt.Errorf("%s is a publicly known secret of the demo; set a real one", field)
	}
	return found, nil
}
