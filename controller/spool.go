package controller

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/ocpctl/ocpctl/internal/artifacts"
	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/store/attempts"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/intake"
)

// importSpool passes what a runner left in the bucket to the store, through the same fence as the Status API. As there, a document
// that would always be refused is skipped: the result after it still counts. An error means that the bucket or the store did not
// respond.
func (c *Controller) importSpool(ctx context.Context, open attempts.LaunchSpec) error {
	docs, err := c.Spool.Spooled(ctx, open.Attempt)
	if err != nil {
		return err
	}
	for _, doc := range docs {
		err := c.importOne(ctx, open, doc)
		if errors.Is(err, errRefused) {
			c.Log.ErrorContext(ctx, "spooled document refused", "cluster", open.Cluster, "attempt", open.Attempt, "kind", doc.Kind, "err", err)
			continue
		}
		if err != nil {
			return fmt.Errorf("import spooled %s: %w", doc.Kind, err)
		}
	}
	if len(docs) > 0 {
		c.Log.InfoContext(ctx, "spool imported", "cluster", open.Cluster, "attempt", open.Attempt, "documents", len(docs))
	}
	return nil
}

// errRefused marks a document that would always be refused.
var errRefused = errors.New("refused")

func (c *Controller) importOne(ctx context.Context, open attempts.LaunchSpec, doc artifacts.Document) error {
	row, err := c.Store.Attempts.AttemptScope(ctx, open.Attempt)
	if err != nil {
		return err
	}
	of := intake.ScopeOf(row, c.Installation, c.Bucket, c.Accounts.price)
	switch doc.Kind {
	case "report":
		return keep(ctx, open, of, doc.Body, toSpooledReport, c.Store.Attempts.Report)
	case "result":
		return keep(ctx, open, of, doc.Body, intake.Result, c.Store.Attempts.Result)
	}
	return fmt.Errorf("%w: unknown kind of document", errRefused)
}

// toSpooledReport is a report from the spool: reading it repeatedly must not make a dead runner look alive.
func toSpooledReport(said contract.Report, of intake.Scope) (attempts.ReportRow, error) {
	row, err := intake.Report(said, of)
	row.Late = true
	return row, err
}

// keep passes one spooled document through intake into the store, as the Status API does with one that came in time.
func keep[Document, Row any](ctx context.Context, open attempts.LaunchSpec, of intake.Scope, body []byte,
	row func(Document, intake.Scope) (Row, error), write func(context.Context, string, string, Row) (attempts.Lease, error)) error {
	var said Document
	if err := json.Unmarshal(body, &said); err != nil {
		return fmt.Errorf("%w: %w", errRefused, err)
	}
	kept, err := row(said, of)
	if err != nil {
		return fmt.Errorf("%w: %w", errRefused, err)
	}
	_, err = write(ctx, open.Attempt, open.Token, kept)
	if errors.Is(err, db.ErrConflict) || errors.Is(err, db.ErrFenced) {
		return fmt.Errorf("%w: %w", errRefused, err)
	}
	return err
}
