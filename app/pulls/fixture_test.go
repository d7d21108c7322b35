package pulls_test

import (
	"testing"

	"github.com/ocpctl/ocpctl/devstack/servicetest"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/policy/catalogue"
)

// What a fixture's pull request 41 is about.
const (
	repo    = servicetest.Repo
	profile = servicetest.Profile
	label   = servicetest.Label
	grace   = servicetest.Grace
	own     = servicetest.OwnLogin
)

var errDown = servicetest.ErrDown

// fixture is a servicetest.Fixture with what these tests alone do to it.
type fixture struct{ *servicetest.Fixture }

func newFixture(t *testing.T) *fixture {
	t.Helper()
	return &fixture{servicetest.New(t)}
}

func fixtureWith(t *testing.T, terms catalogue.Catalogue, set ...func(*policy.Settings)) *fixture {
	t.Helper()
	return &fixture{servicetest.With(t, terms, set...)}
}

// opened is a fixture whose pull request was opened.
func opened(t *testing.T) *fixture {
	t.Helper()
	h := newFixture(t)
	h.Open()
	return h
}

// ready is a fixture with a ready cluster that came by comment.
func ready(t *testing.T) *fixture {
	h := opened(t)
	h.Comment(1, "will", "/ocp create aws-standard")
	servicetest.Ready(t, h.Store, h.Shelf, h.Only())
	return h
}
