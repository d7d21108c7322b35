package slack

import (
	"context"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/chatops/messages"
	"github.com/ocpctl/ocpctl/chatops/slack"
	"github.com/ocpctl/ocpctl/store"
)

// offer offers a cluster to a person, who has to accept it.
func (s *Service) offer(_ context.Context, _ task, _ store.Row) (slack.Message, error) {
	return slack.Message{}, app.Fail(app.Invalid, messages.TransferToNobody)
}
