package storetest

import (
	"context"
	"errors"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
)

// Maya is who does things in these tests.
func Maya(why string) clusters.Origin {
	return clusters.Origin{Actor: "saml:maya@acme.example", Source: "api", Why: why}
}

// Decide is the controller's look, which loses races.
func Decide(s *store.Store, id string) error {
	for {
		c, f, err := s.Load(context.Background(), id)
		if err != nil {
			return err
		}
		if err = s.Apply(context.Background(), lifecycle.Decide(c, f, Limits), c.Version); !errors.Is(err, db.ErrStale) {
			return err
		}
	}
}
