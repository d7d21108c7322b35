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

// ruleFile is a file of Prometheus rules.
type ruleFile struct {
	Groups []struct {
		Name  string
		Rules []struct {
			Alert, Record, Expr string
			Labels, Annotations map[string]string
		}
	}
}

func readRules(t *testing.T) (rules ruleFile) {
	t.Helper()
	raw, err := os.ReadFile("alerts.yaml")
	require.NoError(t, err)
	require.NoError(t, yaml.Unmarshal(raw, &rules))
	return rules
}

// TestEachRuleSpeaksOfMetricsThereAre: docs/metrics.md lists them, and a test compares it with what the server exposes.
func TestEachRuleSpeaksOfMetricsThereAre(t *testing.T) {
	metrics, err := os.ReadFile("../docs/metrics.md")
	require.NoError(t, err)
	rules := readRules(t)
	recorded := map[string]bool{}
	for _, group := range rules.Groups {
		for _, rule := range group.Rules {
			recorded[rule.Record] = true
		}
	}
	for _, group := range rules.Groups {
		for _, rule := range group.Rules {
			names := regexp.MustCompile(`ocpctl[_:][\w:]+`).FindAllString(rule.Expr, -1)
			require.NotEmpty(t, names, rule.Alert)
			for _, name := range names {
				plain := regexp.MustCompile(`_(bucket|count|sum)$`).ReplaceAllString(name, "")
				require.True(t, recorded[name] || strings.Contains(string(metrics), "| `"+plain+"` |"), "%s%s names %s", rule.Alert, rule.Record, name)
			}
		}
	}
}

func TestEachAlertHasARunbookThatNamesIt(t *testing.T) {
	list, err := fs.ReadFile(docs.Runbooks(), "README.md")
	require.NoError(t, err)
	n := 0
	for _, group := range readRules(t).Groups {
		for _, rule := range group.Rules {
			if rule.Alert == "" {
				continue
			}
			name := strings.TrimPrefix(rule.Annotations["runbook"], "/runbooks/")
			page, err := fs.ReadFile(docs.Runbooks(), name)
			require.NoError(t, err, rule.Alert)
			require.NotEmpty(t, page)
			require.Regexp(t, "(?m)`"+rule.Alert+"`.*\\("+regexp.QuoteMeta(name)+"\\)", string(list), "the list of runbooks leads from the alert to its page")
			require.NotEmpty(t, rule.Annotations["summary"], rule.Alert)
			require.Contains(t, []string{"warning", "critical"}, rule.Labels["severity"], rule.Alert)
			n++
		}
	}
	require.Equal(t, 43, n)
}

func TestEachAlertIsTested(t *testing.T) {
	tests, err := os.ReadFile("alerts.test.yaml")
	require.NoError(t, err)
	for _, group := range readRules(t).Groups {
		for _, rule := range group.Rules {
			require.True(t, rule.Alert == "" || strings.Contains(string(tests), `alertname="`+rule.Alert+`"`), "make test-alerts does not try %s", rule.Alert)
		}
	}
}
