package github

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"time"

	gh "github.com/google/go-github/v66/github"
)

// App is the GitHub App's registration.
type App struct {
	Slug        string
	ClientID    string            // of the user authorization
	Owner       string            // login
	Permissions map[string]string // permission → read or write
	Events      []string
	Clock       time.Time // GitHub's, when it answered; whole seconds
}

// App returns the registration of the App that the key belongs to; ErrRefused if the key is not the App's.
func (c *Client) App(ctx context.Context) (App, error) {
	const doing = "read the App's registration"
	var got struct {
		gh.App
		ClientID    string      `json:"client_id"`
		Permissions permissions `json:"permissions"`
	}
	answer, err := c.readAsApp(ctx, "app", &got)
	if err != nil {
		return App{}, convertError(doing, err)
	}
	clock, err := http.ParseTime(answer.Header.Get("Date"))
	if err != nil {
		return App{}, fmt.Errorf("%s: read GitHub's time: %w", doing, err)
	}
	return App{Slug: got.GetSlug(), ClientID: got.ClientID, Owner: got.GetOwner().GetLogin(), Permissions: got.Permissions, Events: got.Events, Clock: clock.UTC()}, nil
}

// permissions are by the names of GitHub's API. The client library's type lacks some.
type permissions map[string]string

// readAsApp asks a question as the App.
func (c *Client) readAsApp(ctx context.Context, path string, into any) (*gh.Response, error) {
	req, err := c.app.NewRequest(http.MethodGet, path, nil)
	if err != nil {
		return nil, err
	}
	return c.app.Do(toDecide(ctx), req, into)
}

// Webhook is where GitHub sends the App's webhooks.
type Webhook struct {
	URL         string
	ContentType string // json or form
	Secret      bool   // whether one is set; GitHub does not return it
	Insecure    bool   // GitHub does not verify the certificate
}

// Webhook returns where GitHub sends the App's webhooks.
func (c *Client) Webhook(ctx context.Context) (Webhook, error) {
	got, _, err := c.app.Apps.GetHookConfig(toDecide(ctx))
	if err != nil {
		return Webhook{}, convertError("read the App's webhook settings", err)
	}
	return Webhook{
		URL: derefString(got.URL), ContentType: derefString(got.ContentType), Secret: derefString(got.Secret) != "", Insecure: derefString(got.InsecureSSL) == "1",
	}, nil
}

func derefString(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// Installed is one installation of the App.
type Installed struct {
	ID          int64
	Account     string // login of the organization or person
	Suspended   bool
	Permissions map[string]string // what was accepted there, which may be less than the App asks for
	Events      []string
}

// Installations lists the App's installations.
func (c *Client) Installations(ctx context.Context) (all []Installed, err error) {
	const doing = "list the App's installations"
	for next := 1; next != 0; {
		var page []struct {
			gh.Installation
			Permissions permissions `json:"permissions"`
		}
		answer, err := c.readAsApp(ctx, fmt.Sprintf("app/installations?per_page=%d&page=%d", pageSize, next), &page)
		if err != nil {
			return nil, convertError(doing, err)
		}
		for _, one := range page {
			all = append(all, Installed{
				ID: one.GetID(), Account: one.GetAccount().GetLogin(), Suspended: one.SuspendedAt != nil, Permissions: one.Permissions, Events: one.Events,
			})
		}
		next = answer.NextPage
	}
	return all, nil
}

// RateLimit returns what is left of an installation's limit for REST calls. The call itself costs nothing.
func (c *Client) RateLimit(ctx context.Context, installation int64) (b Budget, err error) {
	err = c.callAsInstallation(ctx, installation, func(client *gh.Client) error {
		got, _, err := client.RateLimit.Get(toDecide(ctx))
		if err != nil {
			return err
		}
		b = Budget{Resource: "core", Allowed: got.GetCore().Limit, Remaining: got.GetCore().Remaining, ResetsAt: got.GetCore().Reset.UTC()}
		return nil
	})
	return b, convertError("read the rate limit of installation "+strconv.FormatInt(installation, 10), err)
}
