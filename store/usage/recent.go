package usage

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/internal/price"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/db"
)

// Recent returns what teams used lately, in cents. It reads counters and no clusters; without a half-life, or for one team alone, it is nothing.
func Recent(ctx context.Context, c *db.Tx, teams []string) (map[string]int64, error) {
	if teams = slices.Compact(slices.Sorted(slices.Values(teams))); len(teams) < 2 {
		return nil, nil
	}
	recent, err := advanceRecent(ctx, c, teams)
	cents := map[string]int64{}
	for team, u := range recent {
		cents[team] = price.Amount(u.Amount).Cents()
	}
	return cents, err
}

// KeepRecent stores what each team used lately, up to now. What was used before counts the less the longer ago that is, so it is called once an hour.
func KeepRecent(ctx context.Context, c *db.Tx) error {
	teams, err := db.All[struct{ Key string }](ctx, c, `
		SELECT key FROM usage_counters WHERE kind = 'team' UNION SELECT key FROM usage_changes WHERE kind = 'team' UNION SELECT team FROM usage_recent ORDER BY 1`)
	if err != nil {
		return fmt.Errorf("read which teams used something: %w", err)
	}
	names := make([]string, len(teams))
	for i, t := range teams {
		names[i] = t.Key
	}
	recent, err := advanceRecent(ctx, c, names)
	if err != nil || len(recent) == 0 {
		return err
	}
	amounts, spent := make([]int64, len(names)), make([]int64, len(names))
	for i, name := range names {
		amounts[i], spent[i] = recent[name].Amount, recent[name].Spent
	}
	_, err = c.Exec(ctx, `
		INSERT INTO usage_recent (team, amount, spent, at) SELECT team, amount, spent, @now FROM unnest(@teams::text[], @amounts::bigint[], @spent::bigint[]) AS n (team, amount, spent)
		ON CONFLICT (team) DO UPDATE SET amount = excluded.amount, spent = excluded.spent, at = excluded.at`,
		pgx.NamedArgs{"teams": names, "amounts": amounts, "spent": spent, "now": c.Now})
	if err == nil {
		_, err = c.Exec(ctx, `DELETE FROM usage_recent WHERE amount < $1 AND spent = 0`, price.PerHour) // less than a cent is nothing
	}
	if err != nil {
		return fmt.Errorf("keep what was used lately: %w", err)
	}
	return nil
}

// advanceRecent returns the teams' recent usage now: what was kept of it, and what they spent since.
func advanceRecent(ctx context.Context, c *db.Tx, teams []string) (map[string]lifecycle.RecentUsage, error) {
	halfLife := c.DB.Options.Limits.UsageHalfLife
	if halfLife <= 0 || len(teams) == 0 {
		return nil, nil
	}
	scopes := make([]Scope, len(teams))
	for i, team := range teams {
		scopes[i] = Scope{Team: team}
	}
	tally, err := ReadTally(ctx, c, scopes, nil, c.Now)
	if err != nil {
		return nil, err
	}
	kept, err := db.All[struct {
		Team          string
		Amount, Spent int64
		At            time.Time
	}](ctx, c, `SELECT team, amount, spent, at FROM usage_recent WHERE team = ANY ($1)`, teams)
	if err != nil {
		return nil, fmt.Errorf("read what was used lately: %w", err)
	}
	recent := map[string]lifecycle.RecentUsage{}
	for _, k := range kept {
		recent[k.Team] = lifecycle.RecentUsage{Amount: k.Amount, Spent: k.Spent, At: k.At}
	}
	for _, team := range teams {
		recent[team] = recent[team].Advance(int64(tally.sums[counter{"team", team}].spent), c.Now, halfLife)
	}
	return recent, nil
}
