package github

import (
	"context"
	"errors"
	"fmt"
	"time"

	gh "github.com/google/go-github/v66/github"
)

// HookDelivery is one webhook that GitHub sent or tried to send.
type HookDelivery struct {
	ID            int64 // of this try; a redelivery has a new id
	GUID          string
	Event, Action string
	At            time.Time
	StatusCode    int // of the response; 0: there was none
	Redelivery    bool
	Installation  int64 // 0: no installation
}

const (
	pageSize      = 100
	deliveryPages = 100
)

// ErrCut says that there is more than one call reads; what is returned with it is correct but incomplete.
var ErrCut = errors.New("not everything was read")

// HookDeliveries lists what GitHub has sent to the App since then, newest first. With ErrCut it returns the newest 10,000 of them.
func (c *Client) HookDeliveries(ctx context.Context, since time.Time) ([]HookDelivery, error) {
	const doing = "list the App's webhook deliveries"
	var out []HookDelivery
	opts := &gh.ListCursorOptions{PerPage: pageSize}
	for range deliveryPages {
		page, answer, err := c.app.Apps.ListHookDeliveries(ctx, opts)
		if err != nil {
			return nil, convertError(doing, err)
		}
		for _, one := range page {
			if one.GetDeliveredAt().Before(since) {
				return out, nil
			}
			out = append(out, HookDelivery{
				ID: one.GetID(), GUID: one.GetGUID(), Event: one.GetEvent(), Action: one.GetAction(),
				At: one.GetDeliveredAt().UTC(), StatusCode: one.GetStatusCode(),
				Redelivery: one.GetRedelivery(), Installation: one.GetInstallationID(),
			})
		}
		if answer.Cursor == "" {
			return out, nil
		}
		opts.Cursor = answer.Cursor
	}
	return out, fmt.Errorf("%s since %s: %w: more than %d", doing, since.UTC().Format(time.RFC3339), ErrCut, pageSize*deliveryPages)
}

// Redeliver asks GitHub to send a delivery again. GitHub keeps deliveries for three days; after that, ErrNotFound.
func (c *Client) Redeliver(ctx context.Context, id int64) error {
	_, _, err := c.app.Apps.RedeliverHookDelivery(ctx, id)
	if accepted := (*gh.AcceptedError)(nil); errors.As(err, &accepted) {
		return nil
	}
	return convertError(fmt.Sprintf("redeliver webhook %d", id), err)
}
