package config

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// read reads a file's text with an environment.
func read(t *testing.T, text string, env ...string) (Loaded, error) {
	t.Helper()
	noStandIns(t)
	path := filepath.Join(t.TempDir(), "ocpctl.yaml")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return Read(path, env, everything)
}

func TestTheEnvironmentIsStrongerThanTheFile(t *testing.T) {
	l, err := read(t, sound+"limits: {verify_gap: 5m, wake: 7s}\n", "PATH=/bin", "OCPCTL_LIMITS_WAKE=9s", "OCPCTL_GITHUB_APP_ID=42", "OCPCTL_GITHUB_INSTALLATIONS=7, 8",
		"OCPCTL_LISTEN_TRUSTED_PROXIES=10.0.0.0/8", "OCPCTL_API_RATE=2.5", "OCPCTL_ACCOUNT=123456789012", "OCPCTL_GITHUB_RESERVE_PERCENT=0",
		"OCPCTL_DATABASE_URL_REF=file:/other")
	require.NoError(t, err)
	require.Equal(t, 9*time.Second, l.Limits.Wake)
	require.Equal(t, 5*time.Minute, l.Limits.VerifyGap)
	require.Equal(t, int64(42), l.GitHub.AppID)
	require.Equal(t, []int64{7, 8}, l.GitHub.Installations)
	require.Equal(t, []string{"10.0.0.0/8"}, l.Listen.TrustedProxies)
	require.InDelta(t, 2.5, l.API.Rate, 0)
	require.Equal(t, "123456789012", l.Account)
	require.Zero(t, l.GitHub.ReservePercent)
	require.Equal(t, "file:/other", l.DatabaseURLRef)
	for field, want := range map[string]string{
		"limits.wake": "OCPCTL_LIMITS_WAKE", "limits.verify_gap": "line 17", "limits.keep": "default", "repositories[0].team": "line 16",
		"database_url_ref": "OCPCTL_DATABASE_URL_REF", "github.private_key_ref": "line 5", "oidc[0].ca_file": "default",
	} {
		require.Equal(t, want, l.Origin(field), field)
	}
}

func TestAVariableThatSetsNothingIsRefused(t *testing.T) {
	for pair, want := range map[string]string{
		"OCPCTL_LIMITS_WAK=3s":                  "OCPCTL_LIMITS_WAK: unknown environment variable; did you mean OCPCTL_LIMITS_WAKE?",
		"OCPCTL_GITHUB_APPID=3":                 "did you mean OCPCTL_GITHUB_APP_ID?",
		"OCPCTL_ENTIRELY_DIFFERENT_THING=x":     "OCPCTL_ENTIRELY_DIFFERENT_THING: unknown environment variable; OCPCTL_<SECTION>_<FIELD> sets a field",
		"OCPCTL_REPOSITORIES=acme/*":            "Lists of sections and maps are set in the file only",
		"OCPCTL_LIMITS_WAKE=soon":               `OCPCTL_LIMITS_WAKE: limits.wake is "soon"; give a duration with a unit, such as 90s, 15m or 3h`,
		"OCPCTL_LIMITS_WAKE=10ms":               "OCPCTL_LIMITS_WAKE: limits.wake is 10ms; give 1s or more",
		"OCPCTL_LIMITS_BLOCK_AFTER=many":        `limits.block_after is "many"; give a whole number`,
		"OCPCTL_API_RATE=fast":                  `api.rate is "fast"; give a number`,
		"OCPCTL_DEMO=maybe":                     `demo is "maybe"; give true or false`,
		"OCPCTL_GITHUB_INSTALLATIONS=7,x":       `github.installations has an element that is "x"; give a whole number`,
		"OCPCTL_DATABASE_URL_REF=postgres://me": "OCPCTL_DATABASE_URL_REF: database_url_ref is not a reference",
		// What belongs to others is accepted.
		"OCPCTL_SERVER=https://x":                    "",
		"OCPCTL_TOKEN=t":                             "",
		"OCPCTL_DEMO_PORT=18080":                     "",
		"OCPCTL_STANDIN_PACE=1s":                     "",
		"OCPCTL_ATTEMPT=x":                           "",
		"OCPCTL_ROLES=api":                           "",
		"OCPCTL_SERVICE_HOST=10.0.0.1":               "",
		"OCPCTL_API_SERVICE_PORT_HTTP=80":            "",
		"OCPCTL_PORT=tcp://10.0.0.1:80":              "",
		"OCPCTL_HOOKS_PORT_8081_TCP_ADDR=10.0.0.1":   "",
		"OCPCTL_API_PORT_8080_TCP=tcp://10.0.0.1:80": "",
	} {
		_, err := read(t, sound, pair)
		if want == "" {
			require.NoError(t, err, pair)
			continue
		}
		require.ErrorContains(t, err, want, pair)
		require.Len(t, strings.Split(err.Error(), "\n"), 2, err.Error())
	}
}

func TestEveryVariableHasOneMeaning(t *testing.T) {
	var c Config
	seen := map[string]string{}
	eachField("", reflect.ValueOf(&c).Elem(), func(path string, _ reflect.Value) {
		name := Variable(path)
		require.Empty(t, seen[name], "%s and %s", path, seen[name])
		require.False(t, belongsElsewhere(name), path)
		seen[name] = path
	})
	require.Greater(t, len(seen), 70)
}

func TestErrorsNameTheirOrigin(t *testing.T) {
	_, err := read(t, "installation: prod\ngithub:\n  app_id: -1\n  per_minute: 900\nrepositories:\n  - {match: 'acme/*', team: a, owner: b, cost_center: c}\nrunner: {heartbeat: 10m}\n",
		"OCPCTL_GITHUB_FORKS=allow")
	for _, want := range []string{
		"not set: database_url_ref is empty;", "line 3: github.app_id is -1;", "line 4: github.per_minute is 900;", "OCPCTL_GITHUB_FORKS: github.forks is \"allow\";",
		"line 6: repositories[0].environment is empty;", "default: runner.lease is 15m; give at least three times",
	} {
		require.ErrorContains(t, err, want)
	}
}

func TestNoFileIsNeeded(t *testing.T) {
	noStandIns(t)
	l, err := Read("", []string{"OCPCTL_DATABASE_URL_REF=file:/db", "OCPCTL_GITHUB_WEBHOOK_SECRET_REF=file:/w"}, Roles{HooksRole})
	require.NoError(t, err)
	require.Equal(t, "file:/db", l.DatabaseURLRef)
	_, err = Read("", nil, Roles{HooksRole})
	require.ErrorContains(t, err, "the environment:\nnot set: database_url_ref is empty")
}

func TestIBMCloudIsOffUntilItsFeatureIsOn(t *testing.T) {
	cfg, err := read(t, sound)
	require.NoError(t, err)
	require.Contains(t, cfg.Features.PlatformsOff()["ibmcloud"], "turned on with features.ibm_cloud in the server's configuration")
	const on = "features: {ibm_cloud: true}\nclouds: {ibmcloud: {credentials_ref: file:/ibm}}\n"
	cfg, err = read(t, sound+on)
	require.NoError(t, err)
	require.Empty(t, cfg.Features.PlatformsOff())

	for _, name := range []string{"Prod", "prod@acme", "prod/1"} {
		changed := regexp.MustCompile(`(?m)^installation: .*$`).ReplaceAllString(sound, "installation: "+name)
		require.NotEqual(t, sound, changed)
		_, err = read(t, changed)
		require.NoError(t, err, "AWS keeps it")
		_, err = read(t, changed+on)
		require.ErrorContains(t, err, `installation is "`+name+`"; with features.ibm_cloud give lowercase letters, digits and _ - . alone`)
	}
}
