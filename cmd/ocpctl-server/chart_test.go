package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/cmd/ocpctl-server/internal/config"
)

// chartConfig matches the configuration in a rendered chart.
var chartConfig = regexp.MustCompile(`(?s)\nmetadata:\n  name: ocpctl-config\n.*?\n  ocpctl\.yaml: \|\n(.*?)\n---`)

func TestTheServerAcceptsWhatTheChartConfigures(t *testing.T) {
	files, err := filepath.Glob("../../deploy/helm/testdata/*.yaml")
	require.NoError(t, err)
	require.Len(t, files, 3)
	for _, file := range files {
		raw, err := os.ReadFile(file)
		require.NoError(t, err)
		found := chartConfig.FindSubmatch(raw)
		require.NotNil(t, found, file)
		text := regexp.MustCompile(`(?m)^    `).ReplaceAllString(string(found[1]), "")
		loaded, err := config.Read(write(t, "ocpctl.yaml", text), nil, config.Roles{config.HooksRole, config.APIRole, config.WorkerRole})
		require.NoError(t, err, file)
		cfg := loaded.Config
		require.Equal(t, strings.Contains(file, "try"), cfg.Demo, "only the embedded option is a demo")
		require.Equal(t, []string{":8081", ":8080", ":8443", ":8082"}, []string{cfg.Listen.Public, cfg.Listen.Private, cfg.Listen.Runners, cfg.Listen.Probes})
		require.Equal(t, []string{"https://ocpctl-runners.ocpctl.svc", "/etc/ocpctl/runners/ca.crt"}, []string{cfg.Runner.StatusURL, cfg.Runner.StatusCAFile})
	}
}
