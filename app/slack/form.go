package slack

import (
	"context"

	"github.com/ocpctl/ocpctl/chatops/slack/inbound"
)

func (s *Service) changeForm(_ context.Context, _ inbound.Request) (string, error) {
	return "not built yet", nil
}

func (s *Service) submitForm(_ context.Context, _ inbound.Request) (string, error) {
	return "not built yet", nil
}
