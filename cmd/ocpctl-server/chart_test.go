package main

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// chartConfig matches the configuration in a rendered chart.
var chartConfig = regexp.MustCompile(`(?s)\nmetadata:\n  name: ocpctl-config\n.*?\n  ocpctl\.yaml: \|\n(.*?)\n---`)

// The settings for Kubernetes Jobs are checked where they are defined.
var chartDispatch = regexp.MustCompile(`(?m)^  dispatch: kubernetes\n  kubernetes:\n(?:    .*\n)+`)

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
		require.Regexp(t, chartDispatch, text)
		cfg, bad, whole := decode([]byte(chartDispatch.ReplaceAllString(text, "")))
		require.NoError(t, errors.Join(bad...), file)
		require.True(t, whole)
		require.NoError(t, errors.Join(cfg.check(roles{hooksRole, apiRole})...), file)
		require.Equal(t, strings.Contains(file, "try"), cfg.Demo, "only the embedded option is a demo")
		require.Equal(t, []string{":8081", ":8080", ":8082"}, []string{cfg.Listen.Public, cfg.Listen.Private, cfg.Listen.Probes})
	}
}
