package deploy_test

import (
	"io/fs"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/ocpctl/ocpctl/docs"
)

// alertRules is a file of Prometheus alerting rules.
type alertRules struct {
	Groups []struct {
		Name  string
		Rules []struct {
			Alert, Expr string
			Annotations map[string]string
		}
	}
}

func TestEachAlertSpeaksOfMetricsThereAreAndHasARunbook(t *testing.T) {
	raw, err := os.ReadFile("alerts.yaml")
	require.NoError(t, err)
	var rules alertRules
	require.NoError(t, yaml.Unmarshal(raw, &rules))
	source, err := os.ReadFile("../app/api/ops.go")
	require.NoError(t, err)
	n := 0
	for _, group := range rules.Groups {
		for _, rule := range group.Rules {
			names := regexp.MustCompile(`ocpctl_\w+`).FindAllString(rule.Expr, -1)
			require.NotEmpty(t, names, rule.Alert)
			for _, name := range names {
				require.Contains(t, string(source), `"`+name+`"`, rule.Alert)
			}
			page, err := fs.ReadFile(docs.Runbooks(), strings.TrimPrefix(rule.Annotations["runbook"], "/runbooks/"))
			require.NoError(t, err, rule.Alert)
			require.NotEmpty(t, page)
			require.NotEmpty(t, rule.Annotations["summary"], rule.Alert)
			n++
		}
	}
	require.Equal(t, 5, n)
}
