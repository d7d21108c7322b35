package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/cmd/ocpctl-server/internal/config"
)

func TestTheWeeklyReportIsPostedAsConfigured(t *testing.T) {
	cfg := config.Defaults().Reports.Weekly
	w, err := weeklyReport(cfg)
	require.NoError(t, err)
	require.Equal(t, []any{time.Monday, 8, "UTC", ""}, []any{w.Weekday, w.Hour, w.Zone.String(), w.Channel})
	cfg.Weekday, cfg.Hour, cfg.Zone, cfg.Channel = "Friday", 17, "Europe/Berlin", "C012AB3CD"
	w, err = weeklyReport(cfg)
	require.NoError(t, err)
	require.Equal(t, []any{time.Friday, 17, "Europe/Berlin", "C012AB3CD"}, []any{w.Weekday, w.Hour, w.Zone.String(), w.Channel})
	cfg.Enabled = false
	w, err = weeklyReport(cfg)
	require.NoError(t, err)
	require.Nil(t, w)
}
