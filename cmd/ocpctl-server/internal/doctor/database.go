package doctor

import (
	"context"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/migrations"
	"github.com/ocpctl/ocpctl/store/inspect"
)

// leastPostgres is the oldest version of PostgreSQL that ocpctl is tested with.
const leastPostgres = 15

// checkDatabase checks the database and what this user may do in it.
func (d *doctor) checkDatabase(ctx context.Context, f *findings) {
	url, ok := d.resolveSecret(ctx, f, "connection", "database_url_ref", d.Settings.DatabaseURLRef)
	if !ok {
		return
	}
	db, err := inspect.Look(ctx, url.Reveal())
	if err != nil {
		f.fail("connection", "Check the address in the secret, the user's password, pg_hba.conf and the network between here and there.", "%s", err)
		return
	}
	f.ok("connection", "connected to the database %s on %s as %s", db.Name, db.Host, db.User)
	if db.Version < leastPostgres {
		f.fail("version", "Upgrade to PostgreSQL 15 or newer.", "PostgreSQL %d; ocpctl needs %d or newer", db.Version, leastPostgres)
	} else {
		f.ok("version", "PostgreSQL %d", db.Version)
	}
	d.checkSchema(f, db)
	d.checkTLS(f, db)
	d.checkConnections(f, db)
	if len(db.Lacking) > 0 {
		f.fail("privileges", "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO "+db.User+"; or connect as the tables' owner.",
			"%s may not read and write %s", db.User, joinWords(db.Lacking))
	} else {
		f.ok("privileges", "%s may read and write every table", db.User)
	}
	d.checkClock(f, "the database", db.Clock.Add(time.Since(db.ClockRead)), db.RoundTrip)
}

// checkSchema compares the database's migrations with the program's.
func (d *doctor) checkSchema(f *findings, db inspect.Database) {
	ours, rivers := db.Schema < db.NewestSchema, db.River < db.NewestRiver
	switch {
	case db.Schema > db.NewestSchema:
		f.warn("schema", "Finish the upgrade: a server runs with the schema of the next release, and not with later ones.",
			"the schema is at %d, and this program knows %d: a newer server has migrated it", db.Schema, db.NewestSchema)
	case db.Schema > 0 && db.Schema < db.FirstSchema:
		f.fail("schema", "Upgrade in two steps: "+migrations.UpgradeFirst+".", "the schema is at %d, and this program's migrations begin with %d", db.Schema, db.FirstSchema)
	case (ours || rivers) && !db.MayCreate:
		f.fail("schema", "Start one server as the tables' owner with -migrate, or GRANT CREATE ON SCHEMA public TO "+db.User+".",
			"the schema is at %d of %d, the queue's at %d of %d, and %s may not create tables", db.Schema, db.NewestSchema, db.River, db.NewestRiver, db.User)
	case ours || rivers:
		f.warn("schema", "Nothing, if a server starts next: it migrates first. With -migrate=false, migrate before.",
			"migrations are pending: the schema is at %d of %d, the queue's at %d of %d", db.Schema, db.NewestSchema, db.River, db.NewestRiver)
	default:
		f.ok("schema", "up to date: %d, the queue's %d", db.Schema, db.River)
	}
}

func (d *doctor) checkTLS(f *findings, db inspect.Database) {
	switch {
	case db.TLS != "":
		f.ok("tls", "the connection is encrypted (%s)", db.TLS)
	case strings.HasPrefix(db.Host, "/"), db.Host == "localhost", strings.HasPrefix(db.Host, "127."), db.Host == "::1":
		f.ok("tls", "the connection is not encrypted, and stays on this machine")
	default:
		f.fail("tls", "Turn on TLS in PostgreSQL, and add sslmode=verify-full and sslrootcert=… to the address.", "the connection to %s is not encrypted", db.Host)
	}
}

// checkConnections compares the pool of one process with what the database accepts from all of them.
func (d *doctor) checkConnections(f *findings, db inspect.Database) {
	const next = "Lower pool_max_conns in the database's address, or raise max_connections."
	switch processes := db.MaxConnections / max(db.PoolConns, 1); {
	case processes == 0:
		f.fail("connections", next, "one process opens up to %d connections, and the database accepts %d", db.PoolConns, db.MaxConnections)
	case processes == 1:
		f.warn("connections", next, "one process opens up to %d of the %d connections, so a second one does not fit: an upgrade starts it before the first ends",
			db.PoolConns, db.MaxConnections)
	default:
		f.ok("connections", "%d connections are enough for %s with up to %d each", db.MaxConnections, countOf(processes, "process", "processes"), db.PoolConns)
	}
}
