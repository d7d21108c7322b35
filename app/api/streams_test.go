package api

import (
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/app/auth"
	"github.com/ocpctl/ocpctl/devstack/oidc"
	"github.com/ocpctl/ocpctl/profiles"
)

// A stream that was begun with a seat shows nothing more once the catalogue took the seat away.
func TestASeatThatIsLostEndsWhatAStreamShows(t *testing.T) {
	terms := scoped(t)
	var identities atomic.Pointer[[]profiles.Identity]
	identities.Store(&terms.Identities)
	h := fixtureWith(t, terms, nil)
	config := h.config(h.store, h.app, terms, func(c *Config) {
		c.Auth = auth.New(auth.Config{
			Issuers: []auth.Issuer{{URL: h.issuer.URL(), Audience: oidc.Audience}}, Identities: func() []profiles.Identity { return *identities.Load() },
		})
	})
	h.Server = serve(t, config)
	h.make(oidc.Requester, "shop")
	h.make(oidc.Requester, "pear")
	h.does(http.MethodPost, "/api/v1/clusters/pear/shares", h.as(oidc.Requester), v1.ShareRequest{Kind: "principal", With: h.id(headOfPlatform)}, http.StatusOK, nil)
	all := h.listen("/api/v1/watch", h.as(headOfPlatform))
	some := h.listen("/api/v1/watch?cluster=pear&cluster=shop", h.as(headOfPlatform))
	log := h.listen("/api/v1/clusters/shop/logs?follow=true", h.as(headOfPlatform))
	for _, stream := range []*listener{all, some} {
		stream.until(func(c v1.Cluster) bool { return c.Name == "shop" })
	}

	var left []profiles.Identity
	for _, i := range terms.Identities {
		if i.Name != "heads" {
			left = append(left, i)
		}
	}
	identities.Store(&left)
	h.does(http.MethodPost, "/api/v1/clusters/shop/destroy", h.as(oidc.Requester), nil, http.StatusAccepted, nil)
	h.does(http.MethodPost, "/api/v1/clusters/pear/extend", h.as(oidc.Requester), v1.Extend{Hours: 1}, http.StatusOK, nil)
	for _, stream := range []*listener{all, log} {
		var said v1.Problem
		stream.next("problem", &said)
		stream.ends()
	}
	next := some.until(func(c v1.Cluster) bool { return c.Name != "" })
	require.Equal(t, "pear", next.Name, "what is shared with a person is seen without a seat")
}
