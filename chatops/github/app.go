package github

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"

	gh "github.com/google/go-github/v66/github"
)

// App is the GitHub App's registration.
type App struct {
	Slug        string
	Owner       string            // login
	Permissions map[string]string // permission → read or write
	Events      []string
	Clock       time.Time // GitHub's, when it answered; whole seconds
}

// App returns the registration of the App that the key belongs to; ErrRefused if the key is not the App's.
func (c *Client) App(ctx context.Context) (App, error) {
	const doing = "read the App's registration"
	got, answer, err := c.app.Apps.Get(toDecide(ctx), "")
	if err != nil {
		return App{}, explain(doing, err)
	}
	permissions, err := permissionsOf(got.Permissions)
	if err != nil {
		return App{}, fmt.Errorf("%s: %w", doing, err)
	}
	clock, err := http.ParseTime(answer.Header.Get("Date"))
	if err != nil {
		return App{}, fmt.Errorf("%s: read GitHub's time: %w", doing, err)
	}
	return App{Slug: got.GetSlug(), Owner: got.GetOwner().GetLogin(), Permissions: permissions, Events: got.Events, Clock: clock.UTC()}, nil
}

// permissionsOf lists permissions by the names of GitHub's API.
func permissionsOf(p *gh.InstallationPermissions) (map[string]string, error) {
	raw, err := json.Marshal(p)
	if err != nil {
		return nil, err
	}
	var named map[string]string
	return named, json.Unmarshal(raw, &named)
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
		return Webhook{}, explain("read the App's webhook settings", err)
	}
	return Webhook{
		URL: deref(got.URL), ContentType: deref(got.ContentType), Secret: deref(got.Secret) != "", Insecure: deref(got.InsecureSSL) == "1",
	}, nil
}

func deref(s *string) string {
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
	opts := &gh.ListOptions{PerPage: pageSize}
	for {
		page, answer, err := c.app.Apps.ListInstallations(toDecide(ctx), opts)
		if err != nil {
			return nil, explain(doing, err)
		}
		for _, one := range page {
			permissions, err := permissionsOf(one.Permissions)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", doing, err)
			}
			all = append(all, Installed{
				ID: one.GetID(), Account: one.GetAccount().GetLogin(), Suspended: one.SuspendedAt != nil, Permissions: permissions, Events: one.Events,
			})
		}
		if answer.NextPage == 0 {
			return all, nil
		}
		opts.Page = answer.NextPage
	}
}

// RateLimit returns what is left of an installation's limit for REST calls. The call itself costs nothing.
func (c *Client) RateLimit(ctx context.Context, installation int64) (b Budget, err error) {
	err = c.call(ctx, installation, func(client *gh.Client) error {
		got, _, err := client.RateLimit.Get(toDecide(ctx))
		if err != nil {
			return err
		}
		b = Budget{Resource: "core", Allowed: got.GetCore().Limit, Remaining: got.GetCore().Remaining, ResetsAt: got.GetCore().Reset.UTC()}
		return nil
	})
	return b, explain("read the rate limit of installation "+strconv.FormatInt(installation, 10), err)
}
