package admin

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/chatops/messages"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/scans"
)

// Orphan is an orphan with what follows from it.
type Orphan struct {
	scans.OrphanRow
	CostCents *int64 // since it was first seen; nil: no price is known
	Next      string // the next step
}

// toOrphan adds what follows at that time.
func toOrphan(row scans.OrphanRow, now time.Time) Orphan {
	o := Orphan{OrphanRow: row, Next: messages.OrphanNext(row.Class, row.State, row.Owner+row.Team != "")}
	if row.HourlyCents != nil {
		until := now
		if row.GoneAt != nil {
			until = *row.GoneAt
		}
		o.CostCents = new(int64(math.Round(*row.HourlyCents * max(0, until.Sub(row.FirstSeenAt).Hours()))))
	}
	return o
}

// Orphans returns a page of the orphans of the principal's teams; with a role in every team, all of them.
func (s *Service) Orphans(ctx context.Context, p policy.Principal, f scans.Filter) (page []Orphan, next string, err error) {
	if err := app.MayForEverybody(p, policy.ActFindings, messages.ToSeeOrphans); err != nil {
		return nil, "", err
	}
	f.Teams = p.TeamsFor(policy.ActFindings)
	rows, next, err := s.store.Scans.Orphans(ctx, f)
	if err != nil {
		return nil, "", err
	}
	now, err := s.store.Now(ctx)
	if err != nil {
		return nil, "", fmt.Errorf("read the clock: %w", err)
	}
	for _, row := range rows {
		page = append(page, toOrphan(row, now))
	}
	return page, next, nil
}

// Orphan returns one orphan and its resources. Another team's is NotFound.
func (s *Service) Orphan(ctx context.Context, p policy.Principal, id string) (Orphan, []scans.SeenRow, error) {
	if err := app.MayForEverybody(p, policy.ActFindings, messages.ToSeeOrphans); err != nil {
		return Orphan{}, nil, err
	}
	row, err := s.store.Scans.Orphan(ctx, id)
	teams := p.TeamsFor(policy.ActFindings)
	if errors.Is(err, db.ErrNotFound) || err == nil && teams != nil && !slices.Contains(teams, row.Team) {
		return Orphan{}, nil, app.Fail(app.NotFound, messages.NoOrphan(id))
	}
	if err != nil {
		return Orphan{}, nil, err
	}
	now, err := s.store.Now(ctx)
	if err != nil {
		return Orphan{}, nil, fmt.Errorf("read the clock: %w", err)
	}
	parts, err := s.store.Scans.PartsOf(ctx, id)
	return toOrphan(row, now), parts, err
}

// WriteOrphans writes orphans as CSV: one line for each, with a head.
func WriteOrphans(w io.Writer, list []Orphan) error {
	out := csv.NewWriter(w)
	out.Write([]string{"orphan", "class", "state", "account", "regions", "installation", "cluster", "identity", "place", "owner", "team", "resources",
		"hourly_cents", "cost_cents", "unpriced", "first_seen", "last_seen", "sights", "why", "next"})
	for _, o := range list {
		hourly, cost := "", ""
		if o.HourlyCents != nil {
			hourly, cost = strconv.FormatFloat(*o.HourlyCents, 'f', -1, 64), strconv.FormatInt(*o.CostCents, 10)
		}
		line := []string{o.ID, string(o.Class), string(o.State), o.Account, strings.Join(o.Regions, " "), o.Installation, o.ClusterTag, o.Identity, o.Place, o.Owner, o.Team,
			strconv.Itoa(o.Resources), hourly, cost, strconv.Itoa(o.Unpriced), o.FirstSeenAt.UTC().Format(time.RFC3339), o.LastSeenAt.UTC().Format(time.RFC3339),
			strconv.Itoa(o.Sights), o.Why, o.Next}
		for i := range line {
			line[i] = plainCell(line[i])
		}
		out.Write(line)
	}
	out.Flush()
	return out.Error()
}

// plainCell is text that no spreadsheet takes for a formula: tags are written by anybody.
func plainCell(s string) string {
	if s != "" && strings.ContainsRune("=+-@\t\r", rune(s[0])) {
		return "'" + s
	}
	return s
}
