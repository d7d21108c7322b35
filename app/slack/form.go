package slack

import (
	"context"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/chatops/slack"
	"github.com/ocpctl/ocpctl/chatops/slack/inbound"
	"github.com/ocpctl/ocpctl/policy"
)

func (s *Service) changeForm(_ context.Context, _ inbound.Request) (string, error) {
	return "not built yet", nil
}

func (s *Service) submitForm(_ context.Context, _ inbound.Request) (string, error) {
	return "not built yet", nil
}

// openForm opens the form that creates a cluster.
func (s *Service) openForm(_ context.Context, _ inbound.Request, _ policy.Principal, _ app.CreateRequest) error {
	return slack.ErrExpired
}
