package runner

import (
	"encoding/json"
	"strings"
	"testing"
	"text/template"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/runner/platform"
)

func TestWhereToRaiseALimitNamesItsCodeAndPage(t *testing.T) {
	kind, err := platform.Of("aws")
	require.NoError(t, err)
	a := &attempt{platform: kind, account: "123456789012", spec: contract.Spec{Region: "eu-central-1"}}
	text := a.explainQuotas([]contract.Quota{
		{Service: "ec2", Code: "L-0263D0A3", Name: "Elastic IP addresses", Limit: 2, Need: 3},
		{Service: "vpc", Code: "L-F678F1CE", Name: "VPCs", Limit: 5, Need: 1},
		{Service: "vpc", Code: "L-A4707A72", Name: "internet gateways", Unknown: "throttled", Need: 1},
	})
	require.Contains(t, text, "account 123456789012")
	require.Contains(t, text, "Elastic IP addresses (L-0263D0A3) from 2 to 3 or more at https://eu-central-1.console.aws.amazon.com/servicequotas/home/services/ec2/quotas/L-0263D0A3")
	require.False(t, strings.Contains(text, "VPCs") || strings.Contains(text, "gateways"))
	require.Contains(t, a.explainQuotas(nil), "eu-central-1.console.aws.amazon.com/servicequotas/home")
}

// The template is oc's, and sees an object as JSON has it: what is missing is not empty.
func TestOnlyAdmittedRoutesAreReadWithTheirSchemePathAndTitle(t *testing.T) {
	const routes = `{"items": [
		{"metadata": {"namespace": "shop", "name": "web", "annotations": {"ocpctl/title": "The \"shop\" 100%", "other": "x"}}, "spec": {"host": "asked.example.com", "path": "/login", "tls": {"termination": "edge", "key": "SECRET"}},
			"status": {"ingress": [{"host": "web.apps.shop.labs.example.com", "conditions": [{"type": "Admitted", "status": "True"}]}]}},
		{"metadata": {"namespace": "shop", "name": "plain", "annotations": {"other": "x"}}, "spec": {}, "status": {"ingress": [{"host": "plain.apps.shop.labs.example.com", "conditions": [{"type": "Admitted", "status": "True"}]}]}},
		{"metadata": {"namespace": "shop", "name": "refused"}, "spec": {"host": "x"}, "status": {"ingress": [{"host": "refused.apps.shop.labs.example.com", "conditions": [{"type": "Admitted", "status": "False"}, {"reason": "odd"}]}]}},
		{"metadata": {"namespace": "shop", "name": "elsewhere"}, "spec": {}, "status": {"ingress": [{"host": "login.example.com", "conditions": [{"type": "Admitted", "status": "True"}]}]}},
		{"metadata": {"namespace": "shop", "name": "new"}, "spec": {"host": "new.apps.shop.labs.example.com"}, "status": {}},
		{"metadata": {"namespace": "shop", "name": "newest"}, "spec": {"host": "newest.apps.shop.labs.example.com"}}]}`
	var list any
	require.NoError(t, json.Unmarshal([]byte(routes), &list))
	var printed strings.Builder
	require.NoError(t, template.Must(template.New("").Parse(routesTemplate)).Execute(&printed, list))
	require.NotContains(t, printed.String(), "SECRET")
	a := &attempt{spec: contract.Spec{Name: "shop", BaseDomain: "labs.example.com"}}
	var links []contract.Link
	for line := range strings.Lines(printed.String()) {
		if r, ok := a.readRoute(strings.TrimSpace(line)); ok {
			links = append(links, r.link)
		}
	}
	require.Equal(t, []contract.Link{{Title: `The "shop" 100%`, URL: "https://web.apps.shop.labs.example.com/login"}, {URL: "http://plain.apps.shop.labs.example.com"}}, links)
}
