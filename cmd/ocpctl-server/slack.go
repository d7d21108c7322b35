package main

import (
	"context"
	"log/slog"
	"net/http"

	"github.com/ocpctl/ocpctl/app/hooks"
	"github.com/ocpctl/ocpctl/app/socketmode"
	"github.com/ocpctl/ocpctl/chatops/slack"
	"github.com/ocpctl/ocpctl/cmd/ocpctl-server/internal/config"
	"github.com/ocpctl/ocpctl/store"
)

// wireSlack builds the client that acts as the bot.
func (in inner) wireSlack(ctx context.Context) (*slack.Client, error) {
	token, err := in.cfg.SlackBotToken(ctx)
	if err != nil {
		return nil, err
	}
	return slack.New(slack.Config{Token: token, BaseURL: in.cfg.Slack.APIURL, Called: in.metrics.SlackCalled})
}

// wireSocket builds what receives Slack's requests where Slack cannot call the public listener. They are stored as those over HTTP are.
func wireSocket(ctx context.Context, cfg config.Config, s *store.Store, log *slog.Logger) (*socketmode.Receiver, error) {
	token, err := cfg.SlackAppToken(ctx)
	if err != nil {
		return nil, err
	}
	intake := hooks.NewSlackIntake(s, cfg.Slack.Workspaces, cfg.Slack.APIURL, log)
	return socketmode.New(socketmode.Config{
		AppToken: token, APIURL: cfg.Slack.APIURL, Log: log,
		Take: func(ctx context.Context, contentType string, body []byte) (any, bool) {
			got := intake.Take(ctx, contentType, body)
			return got.Body, got.Status == http.StatusOK
		},
	})
}
