package doctor

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/ocpctl/ocpctl/chatops/github"
)

const (
	deliveryPatience = 15 * time.Second // GitHub itself waits ten for a response
	deliveryPolls    = 500 * time.Millisecond
	recently         = 10 * time.Minute
)

// checkDelivery asks GitHub to send its last webhook again, and reads from GitHub how the listener answered. An App cannot send itself a
// ping, and a webhook that arrives again changes nothing: its number is known.
func (d *doctor) checkDelivery(ctx context.Context, f *findings, client *github.Client) {
	recent, err := newestDeliveries(ctx, client, time.Now().Add(-72*time.Hour)) // so long GitHub keeps them
	switch {
	case err != nil:
		f.fail("delivery", "Check that this machine reaches "+d.Settings.GitHub.APIURL+".", "%s", err)
		return
	case len(recent) == 0:
		f.skip("delivery", "GitHub has sent no webhook for three days that it could send again; label a pull request, then run this again")
		return
	case d.ReadOnly:
		d.judgeDelivery(f, recent[0], "the last one, at "+recent[0].At.Format("2006-01-02 15:04 UTC")+",")
		return
	}
	last := recent[0]
	if err := client.Redeliver(ctx, last.ID); err != nil {
		f.fail("delivery", "Redeliver one by hand, on the App's page under Advanced.", "%s", err)
		return
	}
	again, arrived := awaitDelivery(ctx, client, recent)
	if !arrived {
		f.warn("delivery", "Look at the App's page, under Advanced.", "GitHub accepted to send %s again, and did not say within %s how it went", last.GUID, deliveryPatience)
		return
	}
	d.judgeDelivery(f, again, "sent again, it")
}

// newestDeliveries returns GitHub's newest deliveries, newest first. It reads ever longer periods, because a busy installation has thousands a
// day.
func newestDeliveries(ctx context.Context, client *github.Client, oldest time.Time) ([]github.HookDelivery, error) {
	for back := recently; ; back *= 6 {
		since := time.Now().Add(-back)
		if since.Before(oldest) {
			since = oldest
		}
		list, err := client.HookDeliveries(ctx, since)
		if err != nil && !errors.Is(err, github.ErrCut) {
			return nil, err
		}
		if len(list) > 0 || since.Equal(oldest) {
			return list, nil
		}
	}
}

// awaitDelivery waits until GitHub lists a new try of the newest of these deliveries.
func awaitDelivery(ctx context.Context, client *github.Client, before []github.HookDelivery) (again github.HookDelivery, arrived bool) {
	ctx, cancel := context.WithTimeout(ctx, deliveryPatience)
	defer cancel()
	ticks := time.NewTicker(deliveryPolls)
	defer ticks.Stop()
	for {
		list, err := client.HookDeliveries(ctx, time.Now().Add(-recently))
		for _, one := range list {
			known := slices.ContainsFunc(before, func(old github.HookDelivery) bool { return old.ID == one.ID })
			if err == nil && one.GUID == before[0].GUID && one.Redelivery && !known {
				return one, true
			}
		}
		select {
		case <-ctx.Done():
			return again, false
		case <-ticks.C:
		}
	}
}

// judgeDelivery says what the listener's response to a webhook means.
func (d *doctor) judgeDelivery(f *findings, one github.HookDelivery, which string) {
	const check = "delivery"
	switch code := one.StatusCode; {
	case code >= 200 && code < 300:
		f.ok(check, "GitHub reaches the public listener: %s was answered %d (%s)", which, code, one.Event)
	case code == 0:
		f.fail(check, "Check the webhook's address on the App's page, its DNS name and certificate, and that the load balancer lets GitHub in.",
			"GitHub does not reach the public listener: %s got no answer (%s)", which, one.GUID)
	case code == http.StatusUnauthorized:
		f.fail(check, "Set the same secret on the App's page and where github.webhook_secret_ref points.", "the public listener refuses GitHub's signature: %s was answered 401", which)
	case code == http.StatusForbidden:
		f.fail(check, "Update github.hook_addresses from https://api.github.com/meta, and list the proxies in listen.trusted_proxies.",
			"the public listener refuses GitHub's address: %s was answered 403", which)
	default:
		f.fail(check, "Check that the webhook's address leads to the role hooks, and its log.", "webhooks are not stored: %s was answered %d", which, code)
	}
}
