package app_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/policy/catalogue"
	"github.com/ocpctl/ocpctl/profiles"
)

const whole = `{
  "name": "team-a-smoke-01", "platform": "aws", "version": "4.20.3", "profile": "aws-minimal-test", "region": "us-east-1",
  "baseDomain": "labs.example.com", "owner": "team-a", "costCenter": "sandbox", "ttlHours": 24, "sshPublicKey": "ssh-ed25519 AAAA...",
  "extraTags": {"Environment": "test", "RequestSource": "webform"}
}`

const publicKey = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ0wKz7lEfhqE8VfUMLxVdIYSQG4mAsXVCGCGIw8rLmF maya"

// drafts is a service that judges and keeps nothing.
func drafts(t testing.TB) *app.Service {
	terms, err := catalogue.Embedded()
	require.NoError(t, err)
	return app.New(app.Config{Catalogue: func() catalogue.Catalogue { return terms }, Policy: policy.Settings{Installation: "test"}, Installs: app.Installs{SSHKey: "ssh-rsa ours"}})
}

var requester = policy.As("cli", "maya", policy.Requester)

func TestTheSpecificationsOwnRequestIsDrafted(t *testing.T) {
	request := app.ReadCreateRequest(strings.NewReader(whole))
	require.Empty(t, request.Wrong)
	row, notes, err := drafts(t).Draft(requester, request, time.Date(2025, 1, 1, 12, 0, 0, 0, time.UTC))
	require.NoError(t, err)
	require.Len(t, notes, 1, "its key is cut for show")
	require.Equal(t, "ssh-rsa ours", row.Spec.SSHKey, "so the nodes get the installation's")
	require.Equal(t, "team-a-smoke-01", row.Name)
	require.Equal(t, 24*time.Hour, row.TTL)
	require.Equal(t, []string{"team-a", "team-a", "sandbox", "test"}, []string{row.Owner, row.Team, row.CostCenter, row.Environment})
	require.Equal(t, "webform", row.Tags["RequestSource"])
	require.Equal(t, "test", row.Tags["Environment"])
	require.Equal(t, "2025-01-04T12:00:00Z", row.Tags["TTLExpiry"])
	require.NoError(t, profiles.Strict([]byte(row.Spec.InstallConfig)))
}

func TestYAMLIsReadAsWellAndDefaultsAreTheProfiles(t *testing.T) {
	request := app.ReadCreateRequest(strings.NewReader("name: shop\ncostCenter: sandbox\nenvironment: test\nteam: platform\nsshPublicKey: " + publicKey + "\n"))
	require.Empty(t, request.Wrong)
	row, notes, err := drafts(t).Draft(requester, request, time.Now())
	require.NoError(t, err)
	require.Empty(t, notes)
	require.Equal(t, publicKey, row.Spec.SSHKey)
	require.Equal(t, "aws-minimal-test", row.Profile)
	require.Equal(t, "Manual", row.Spec.CredentialsMode)
	require.Equal(t, []string{"maya", "platform"}, []string{row.Owner, row.Team}, "who asks owns it")
	row, _, err = drafts(t).Draft(requester, app.CreateRequest{Name: "shop", CostCenter: "c", Environment: "e"}, time.Now())
	require.NoError(t, err)
	require.Equal(t, "ssh-rsa ours", row.Spec.SSHKey, "without a key of its own it takes the installation's")
}

func TestEveryWrongFieldIsNamedAtOnceWithWhatIsAccepted(t *testing.T) {
	request := app.ReadCreateRequest(strings.NewReader(`{"name": "Shop.One", "platform": "ibmcloud", "version": 4.20, "profile": "aws-minimal-test", "regoin": "x",
		"baseDomain": "example.org", "region": "us-est-2", "ttlHours": "24h", "team": "a;b", "owner": "maya", "sshPublicKey": "hello", "environment": "test",
		"extraTags": {"Environment": "prod", "Owner": "x", "Name": "y", "n": 1}, "name": "again"}`))
	_, _, err := drafts(t).Draft(requester, request, time.Now())
	var said *app.Error
	require.True(t, errors.As(err, &said))
	require.Equal(t, app.Invalid, said.Kind)
	got := map[string]string{}
	for _, f := range said.Fields {
		got[f.Name] += f.Detail + "|" + strings.Join(f.Accept, " ")
	}
	for field, text := range map[string]string{
		"name": "given twice", "platform": "not on \"ibmcloud\".|aws", "version": "not a string: 4.20", "regoin": "Did you mean region?", "region": "Did you mean us-east-2?",
		"baseDomain": "Choose one of: labs.example.com", "ttlHours": "a whole number of hours", "team": "cannot be a tag", "sshPublicKey": "not a public key",
		"costCenter": "missing", "extraTags.Environment": `is "prod", but environment is "test"`, "extraTags.n": "not a string: 1", "extraTags": "Owner is set by the control plane",
	} {
		require.Contains(t, got[field], text, field)
	}
	require.Len(t, got, 13)
	require.Contains(t, got["extraTags"], "sets Name itself", "every tag that is wrong")
}

func TestAnEndIsNeverLeftOut(t *testing.T) {
	for _, hours := range []string{"0", "-1", "73", "99999"} {
		request := app.ReadCreateRequest(strings.NewReader(strings.Replace(whole, `"ttlHours": 24`, `"ttlHours": `+hours, 1)))
		_, _, err := drafts(t).Draft(requester, request, time.Now())
		var said *app.Error
		require.True(t, errors.As(err, &said), hours)
		require.Len(t, said.Fields, 1)
		require.Equal(t, "ttl", said.Fields[0].Name)
	}
}

func TestALifetimeIsADurationOrANumberOfHours(t *testing.T) {
	for lifetime, want := range map[string]time.Duration{
		`"ttl": "90m"`: 90 * time.Minute, `"ttl": "1d12h"`: 36 * time.Hour, `"ttl": "8"`: 8 * time.Hour, `"ttl": 8`: 8 * time.Hour, `"ttl": "never"`: policy.NoEnd, `"ttlHours": 24`: 24 * time.Hour, `"ttlHours": 0`: policy.NoEnd,
	} {
		request := app.ReadCreateRequest(strings.NewReader("{" + lifetime + "}"))
		require.Empty(t, request.Wrong, lifetime)
		require.Equal(t, want, request.TTL, lifetime)
	}
	for lifetime, want := range map[string]string{
		`"ttl": "soon"`: `"soon" is not a duration`, `"ttl": true`: `"true" is not a duration`, `"ttl": "99999d"`: `"99999d" is not a duration`, `"ttl": "8h", "ttlHours": 8`: "given twice",
	} {
		request := app.ReadCreateRequest(strings.NewReader("{" + lifetime + "}"))
		require.Len(t, request.Wrong, 1, lifetime)
		require.Contains(t, request.Wrong[0].Detail, want, lifetime)
	}
}

func TestAProfileForAdminsIsDraftedForAdminsAlone(t *testing.T) {
	request := app.ReadCreateRequest(strings.NewReader(strings.Replace(whole, "aws-minimal-test", "aws-minimal-mint", 1)))
	_, _, err := drafts(t).Draft(requester, request, time.Now())
	require.Equal(t, app.Invalid, app.KindOf(err))
	admin := policy.As("cli", "will", policy.PlatformAdmin)
	row, _, err := drafts(t).Draft(admin, request, time.Now())
	require.NoError(t, err)
	require.Equal(t, "Mint", row.Spec.CredentialsMode)
}

func TestWhatIsNoRequestIsSaid(t *testing.T) {
	for body, text := range map[string]string{
		"": "empty", "[]": "not a single object", "7": "not a single object", "{": "cannot be read", "a: b\n---\nc: d\n": "not a single object", "{\"extraTags\": []}": "not an object",
	} {
		wrong := app.ReadCreateRequest(strings.NewReader(body)).Wrong
		require.NotEmpty(t, wrong, body)
		require.Contains(t, wrong[0].Detail, text, body)
		require.NotEmpty(t, wrong[0].Accept)
	}
}

func FuzzReadingARequestNeverPanics(f *testing.F) {
	f.Add(whole)
	f.Add("extraTags: {a: [b], a: c}\nttlHours: 1e9\n")
	f.Add("&a [*a]")
	service := drafts(f)
	f.Fuzz(func(t *testing.T, body string) {
		request := app.ReadCreateRequest(strings.NewReader(body))
		_, _, err := service.Draft(requester, request, time.Now())
		require.True(t, err == nil || app.KindOf(err) == app.Invalid, err)
	})
}
