package controller

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/runner/dispatch"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/artifacts"
	"github.com/ocpctl/ocpctl/store/intake"
)

// sighting is what the dispatcher says of one attempt's runner.
type sighting struct {
	number int
	runner lifecycle.Sighting
}

// observe asks the dispatcher for the open attempt's runner. An answer that did not come is Unknown, which decides nothing.
func (c *Controller) observe(ctx context.Context, cluster string) (sighting, error) {
	open, err := c.Store.OpenAttempt(ctx, cluster)
	if errors.Is(err, store.ErrNotFound) {
		return sighting{}, nil
	}
	if err != nil {
		return sighting{}, err
	}
	seen, err := c.Dispatcher.Observe(ctx, open.Attempt)
	if err != nil {
		c.Log.Warn("runner not observed", "cluster", cluster, "attempt", open.Attempt, "err", err)
		return sighting{number: open.Number}, nil
	}
	if seen == dispatch.Ended && open.Claimed {
		if err := c.importSpool(ctx, open); err != nil {
			c.Log.Warn("spool not read", "cluster", cluster, "attempt", open.Attempt, "err", err)
			return sighting{number: open.Number}, nil
		}
	}
	return sighting{number: open.Number, runner: sightings[seen]}, nil
}

var sightings = map[dispatch.Sighting]lifecycle.Sighting{
	dispatch.Unknown:    lifecycle.Unknown,
	dispatch.NotStarted: lifecycle.NotStarted,
	dispatch.Running:    lifecycle.Alive,
	dispatch.Ended:      lifecycle.Ended,
}

// importSpool hands what an ended runner left in the bucket to the store, through the same fence as the Status API.
func (c *Controller) importSpool(ctx context.Context, open store.LaunchSpec) error {
	docs, err := c.Spool.Spooled(ctx, open.Attempt)
	if err != nil {
		return err
	}
	for _, doc := range docs {
		if err := c.importOne(ctx, open, doc); err != nil {
			return fmt.Errorf("import spooled %s: %w", doc.Kind, err)
		}
	}
	return nil
}

func (c *Controller) importOne(ctx context.Context, open store.LaunchSpec, doc artifacts.Document) error {
	switch doc.Kind {
	case "report":
		return keep(ctx, open, doc.Body, intake.Report, c.Store.Report)
	case "result":
		return keep(ctx, open, doc.Body, intake.Result, c.Store.Result)
	}
	return fmt.Errorf("unknown kind %q", doc.Kind)
}

// keep takes one spooled document through intake into the store, as the Status API does with one that came in time.
func keep[Document, Row any](ctx context.Context, open store.LaunchSpec, body []byte,
	row func(Document) (Row, error), write func(context.Context, string, string, Row) (store.Lease, error)) error {
	var said Document
	if err := json.Unmarshal(body, &said); err != nil {
		return err
	}
	kept, err := row(said)
	if err != nil {
		return err
	}
	_, err = write(ctx, open.Attempt, open.Token, kept)
	return err
}
