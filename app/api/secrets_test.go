package api

import (
	"bytes"
	"context"
	"log/slog"
	"maps"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/devstack/oidc"
	"github.com/ocpctl/ocpctl/devstack/servicetest"
	"github.com/ocpctl/ocpctl/store/clusters"
)

// What opens something stands neither in the log nor in the trail, also where it did not work or broke something.
func TestNoSecretIsLoggedOrKept(t *testing.T) {
	var log bytes.Buffer
	h := fixtureWith(t, teams(t), func(c *Config) {
		c.Log = slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	})
	made := h.make(oidc.Requester, "shop")
	h.ready(made.ClusterID)
	bearer := h.as(oidc.Requester)
	var secrets []string
	for range 2 {
		var link v1.Link
		h.does(http.MethodPost, "/api/v1/clusters/shop/kubeconfig-links", bearer, nil, http.StatusCreated, &link)
		secrets = append(secrets, strings.TrimPrefix(link.URL, "http://ocpctl.test/links/"))
	}
	account, err := h.Credentials.AccountLink(t.Context(), "github:maya", "1", clusters.Origin{Actor: "github:maya", Source: "pr_comment"})
	require.NoError(t, err)
	_, handle, _ := strings.Cut(account.URL.Reveal(), "/links/")
	secrets = append(secrets, handle, bearer, h.as(will), "ADMIN-PASSWORD", servicetest.ClientKey, servicetest.TokenSignature)

	h.does(http.MethodPost, "/api/v1/links/"+secrets[0], bearer, nil, http.StatusOK, nil)
	h.refused(http.MethodPost, "/api/v1/links/"+secrets[1], secrets[4], nil, http.StatusNotFound)
	h.refused(http.MethodPost, "/api/v1/links/"+secrets[2], bearer, nil, http.StatusUnprocessableEntity)
	h.refused(http.MethodGet, "/api/v1/links/"+secrets[1], bearer, nil, http.StatusMethodNotAllowed)
	maps.DeleteFunc(h.shelf, func(ref, _ string) bool { return strings.Contains(ref, "/access-") })
	h.refused(http.MethodPost, "/api/v1/links/"+secrets[1], bearer, nil, http.StatusInternalServerError)
	h.refused(http.MethodGet, "/api/v1/me", bearer+"x", nil, http.StatusUnauthorized)

	trail := h.trail()
	for _, secret := range secrets {
		require.NotContains(t, log.String(), secret)
		require.NotContains(t, trail, secret)
	}
	require.Contains(t, log.String(), "/api/v1/links/***")
}

// trail is everything that the audit trail says.
func (h *fixture) trail() string {
	h.Helper()
	var all string
	require.NoError(h, h.store.Pool().QueryRow(context.Background(), `SELECT string_agg(e::text, E'\n') FROM audit_events e`).Scan(&all))
	return all
}
