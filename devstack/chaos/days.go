package chaos

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/ocpctl/ocpctl/devstack/file"
	"github.com/ocpctl/ocpctl/devstack/must"
	"github.com/ocpctl/ocpctl/profiles"
)

// perDay is how many clusters live at once in a soak with nights.
const perDay = 25

// days is a clock in which hours pass at once, while all clusters are at rest. To the product an hour that passes is one that was: what it
// noted moves back by an hour, and the working hours come an hour earlier. The clouds' meters count an hour more.
type days struct {
	*Run
	ahead time.Duration // whole minutes
	team  []byte        // the team's file without working hours
}

// days runs all cycles, each of which lasts from one morning to noon of the next day, a day's number at once.
func (t *Run) days(ctx context.Context, o SoakOptions) (done []*cycle, err error) {
	defer must.Catch(&err)
	d := &days{Run: t}
	all := must.Get(d.prepare(ctx))
	for len(done) < o.Cycles {
		var day []*cycle
		for n := len(done); n < min(len(done)+perDay, o.Cycles); n++ {
			c := newCycle(o.Seed, n, t.clouds)
			c.drawNight(all, len(t.clouds))
			day = append(day, c)
		}
		done = append(done, day...)
		began := time.Now()
		must.Do(d.live(ctx, day, o.Width))
		t.say("  %4d released, a day of %d in %.0f s", len(done), len(day), time.Since(began).Seconds())
	}
	return done, nil
}

// prepare writes the soak's profiles, and returns the nights that they allow. A catalogue without rules for idle clusters allows none of these.
func (d *days) prepare(ctx context.Context) (all []night, err error) {
	defer must.Catch(&err)
	d.team = must.Get(os.ReadFile(d.teamFile()))
	must.Do(d.writeProfiles(nightly))
	must.Do(d.writeProfiles(idle))
	all = nights()
	if _, err := d.ocpctl(ctx, "admin", "catalog", "validate", filepath.Join(d.Dir, "catalogue")); err != nil {
		d.say("  no cluster ends for idleness, because this catalogue is refused: %v", err)
		all = slices.DeleteFunc(all, func(n night) bool { return n.way == idle })
		for _, from := range d.profiles() {
			must.Do(os.Remove(d.profileFile(idle, from)))
		}
	}
	return all, nil
}

// writeProfiles writes copies of built-in profiles with the rules of a way.
func (d *days) writeProfiles(way string) (err error) {
	defer must.Catch(&err)
	for _, from := range d.profiles() {
		raw := must.Get(fs.ReadFile(profiles.EmbeddedFiles(), "profiles/"+from+".yaml"))
		text := strings.Replace(string(raw), "name: "+from+"\n", "name: "+way+"-"+from+"\n", 1) + "\n" + rules[way] + "\n"
		must.Do(file.Replace(d.profileFile(way, from), []byte(text)))
	}
	return nil
}

// profiles are the built-in profiles of all clouds of the soak.
func (d *days) profiles() (names []string) {
	for _, cloud := range d.clouds {
		names = append(names, profilesOn[cloud]...)
	}
	return names
}

func (d *days) profileFile(way, from string) string {
	return filepath.Join(d.Dir, "catalogue", "profiles", way+"-"+from+".yaml")
}

func (d *days) teamFile() string { return filepath.Join(d.Dir, "catalogue", "teams", "platform.yaml") }

// live lets a day's clusters come in the morning, spend the night, and go at noon.
func (d *days) live(ctx context.Context, day []*cycle, width int) error {
	if err := d.passTo(ctx, morning); err != nil {
		return err
	}
	together(width, day, func(c *cycle) error { return d.morning(ctx, c) })
	for at, m := range moments() {
		if err := d.passTo(ctx, m.at); err != nil {
			return errors.Join(fmt.Errorf("before %s: %w", m.name, err), failures(day))
		}
		together(width, day, func(c *cycle) error { return d.spend(ctx, c, at) })
	}
	if err := d.passTo(ctx, noon); err != nil {
		return errors.Join(err, failures(day))
	}
	together(width, day, func(c *cycle) error {
		if c.gone {
			return nil
		}
		if err := d.endBy(ctx, c); err != nil {
			return err
		}
		return d.ended(ctx, c)
	})
	for _, c := range day {
		if c.err != nil {
			d.say("  %v", c.failure())
		}
	}
	return nil
}

// morning begins a cycle. A cluster that is not ready has ended before noon.
func (d *days) morning(ctx context.Context, c *cycle) error {
	if err := d.begin(ctx, c); err != nil || c.ready {
		return err
	}
	if err := d.endBy(ctx, c); err != nil {
		return err
	}
	c.gone = true
	return d.ended(ctx, c)
}

// together runs a function for every cycle without a failure so far, a limited number at once.
func together(width int, all []*cycle, do func(*cycle) error) {
	var group sync.WaitGroup
	room := make(chan struct{}, width)
	for _, c := range all {
		if c.err != nil {
			continue
		}
		group.Go(func() {
			room <- struct{}{}
			c.err = do(c)
			<-room
		})
	}
	group.Wait()
}

// passTo lets time pass until the next time at which the clock shows that time of the day.
func (d *days) passTo(ctx context.Context, at time.Duration) (err error) {
	defer must.Catch(&err)
	now := time.Now().UTC().Add(d.ahead)
	next := now.Truncate(24 * time.Hour).Add(at)
	if !next.After(now) {
		next = next.Add(24 * time.Hour)
	}
	by := (next.Sub(now) + time.Minute - 1).Truncate(time.Minute)
	must.Do(d.atRest(ctx))
	d.ahead += by
	must.Do(d.writeHours(ctx))
	must.Do(d.atRest(ctx))
	must.Do(MoveBack(ctx, d.pool, by))
	d.Elapse(by)
	return nil
}

// atRest waits until nothing is under way. Then what clusters cost does not change, and it does not matter to which side of a moment
// anything belongs.
func (d *days) atRest(ctx context.Context) error {
	return d.until(ctx, `
		SELECT NOT EXISTS (SELECT FROM attempts WHERE closed_at IS NULL)
			AND NOT EXISTS (SELECT FROM jobs WHERE status IN ('PENDING', 'RUNNING', 'RETRYING'))
			AND NOT EXISTS (SELECT FROM deliveries WHERE state = 'received')
			AND NOT EXISTS (SELECT FROM clusters WHERE destroyed_at IS NULL AND (status <> 'READY' OR desired <> 'present' OR phase IN ('going_to_sleep', 'waking')))`)
}

// writeHours writes the working hours as the product's clock shows them, and has the catalogue read.
func (d *days) writeHours(ctx context.Context) error {
	hours := fmt.Sprintf("\nworkHours: {timeZone: UTC, hours: [%q]}\n", hoursBehind(d.ahead))
	if err := file.Replace(d.teamFile(), append(slices.Clone(d.team), hours...)); err != nil {
		return err
	}
	_, err := d.ocpctl(ctx, "admin", "admin", "reload-catalogue")
	return err
}

// hoursBehind returns the working hours by a clock from which this one is that far ahead.
func hoursBehind(ahead time.Duration) string {
	shown := func(at time.Duration) string { return time.Time{}.Add(at - ahead%(24*time.Hour)).Format("15:04") }
	return fmt.Sprintf("Mon-Sun %s-%s", shown(opening), shown(closing))
}

// MoveBack lets time pass for the clusters that are not released: it moves every time of theirs back, except for those that never change, and
// the times from which they cost what they cost.
func MoveBack(ctx context.Context, pool *pgxpool.Pool, by time.Duration) error {
	return pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) (err error) {
		defer must.Catch(&err)
		rows := must.Get(tx.Query(ctx, `
			SELECT column_name::text FROM information_schema.columns
			WHERE table_name = 'clusters' AND data_type = 'timestamp with time zone' AND is_generated = 'NEVER'
				AND column_name NOT IN ('created_at', 'updated_at', 'end_max', 'destroyed_at', 'meter_month')`))
		columns := must.Get(pgx.CollectRows(rows, pgx.RowTo[string]))
		var set strings.Builder
		for _, name := range columns {
			fmt.Fprintf(&set, "%[1]s = %[1]s - $1::interval, ", pgx.Identifier{name}.Sanitize())
		}
		set.WriteString(`work = (SELECT coalesce(jsonb_object_agg(k.kind, k.work || jsonb_strip_nulls(jsonb_build_object(
			'retry_at', (k.work ->> 'retry_at')::timestamptz - $1::interval, 'done_at', (k.work ->> 'done_at')::timestamptz - $1::interval))), '{}')
			FROM jsonb_each(work) AS k (kind, work)), `)
		_, err = tx.Exec(ctx, `UPDATE clusters SET `+set.String()+`row_version = row_version + 1 WHERE destroyed_at IS NULL`, by)
		must.Wrap(err, "let %s pass", by)
		_, err = tx.Exec(ctx, `
			UPDATE usage_samples SET sample_time = sample_time - $1::interval
			WHERE cluster_id IN (SELECT id FROM clusters WHERE destroyed_at IS NULL)`, by)
		return err
	})
}
