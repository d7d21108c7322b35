// Package db connects the store to PostgreSQL: the pool, transactions with their jobs and audit lines, locks, notifications, and
// short forms for reading rows. It knows no table of the product but the audit trail's.
package db

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/oklog/ulid/v2"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"

	"github.com/ocpctl/ocpctl/internal/queue"
	"github.com/ocpctl/ocpctl/lifecycle"
)

// defaultConns is the most connections a store keeps if the URL does not set pool_max_conns.
const defaultConns = 30

// judgingShare: one connection in this many may wait for judgement locks; the rest serves what must not wait behind many
// requests.
const judgingShare = 3

// idleLimit is PostgreSQL's setting for how long a transaction may be idle before its session is ended.
const idleLimit = "idle_in_transaction_session_timeout"

// sessionSettings are PostgreSQL's settings for every session, unless the URL sets them: a process that hangs in the middle of a change
// must not keep a cluster's row from everybody else, and the locks of a host that is cut off must end although its connection does not.
// The days of bills and reports are those of UTC, whatever zone the database was set up with. Compiling one
// of our queries takes longer than it saves.
var sessionSettings = map[string]string{
	"timezone":                "UTC",
	"jit":                     "off",
	idleLimit:                 "60s",
	"tcp_keepalives_idle":     "5",
	"tcp_keepalives_interval": "2",
	"tcp_keepalives_count":    "3",
	"tcp_user_timeout":        "10000",
}

// Options are the settings of a store.
type Options struct {
	Limits       lifecycle.Limits // what Record decides with
	Lease        time.Duration    // how long a runner may stay silent
	Installation string           // names this control plane, where there are several
	Now          func() time.Time // nil: the database's clock
}

// DB is a migrated database. It is safe for concurrent use.
type DB struct {
	pool          *pgxpool.Pool
	river         *river.Client[pgx.Tx] // inserts only
	QueueNotifier *queueNotifier
	Judging       chan struct{} // one slot for each request that is being judged
	feed          *feed
	LogNotifier   *logNotifier
	Options       Options
	process       string // part of the instance's name, and of the application_name of the pool's sessions
}

// Open connects to a migrated database.
func Open(ctx context.Context, url string, o Options) (*DB, error) {
	if o.Lease <= 0 {
		return nil, fmt.Errorf("open the store: a lease of %s is no lease", o.Lease)
	}
	config, err := PoolConfig(url)
	if err != nil {
		return nil, err
	}
	config.AfterConnect = inUTC
	for name, value := range sessionSettings {
		if _, given := config.ConnConfig.RuntimeParams[name]; !given {
			config.ConnConfig.RuntimeParams[name] = value
		}
	}
	process := ulid.Make().String()
	config.ConnConfig.RuntimeParams["application_name"] = processName + process
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("open the database: %w", err)
	}
	inserter, err := river.NewClient(riverpgxv5.New(pool), &river.Config{FetchCooldown: queue.FetchCooldown})
	if err != nil {
		pool.Close()
		return nil, fmt.Errorf("open River for inserting: %w", err)
	}
	s := &DB{
		pool: pool, river: inserter, QueueNotifier: newQueueNotifier(pool), feed: newFeed(pool), LogNotifier: newLogNotifier(pool), Options: o, process: process,
		Judging: make(chan struct{}, max(1, config.MaxConns/judgingShare)),
	}
	if err := s.Ping(ctx); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// PoolConfig returns the settings of the pool that Open makes for an address.
func PoolConfig(url string) (*pgxpool.Config, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("read the database's address: %w", err)
	}
	if !strings.Contains(url, "pool_max_conns") {
		config.MaxConns = defaultConns
	}
	return config, nil
}

// inUTC makes every time that is read a UTC time.
func inUTC(_ context.Context, conn *pgx.Conn) error {
	conn.TypeMap().RegisterType(&pgtype.Type{
		Name: "timestamptz", OID: pgtype.TimestamptzOID, Codec: &pgtype.TimestamptzCodec{ScanLocation: time.UTC},
	})
	return nil
}

// Close closes the store's connections; a second call does nothing. Stop River's clients on its pool first.
func (s *DB) Close() {
	s.QueueNotifier.stop()
	s.LogNotifier.stop()
	s.feed.stop()
	s.pool.Close()
}

// Pool is the connection pool that River's clients share with the store.
func (s *DB) Pool() *pgxpool.Pool { return s.pool }

// Ping reports whether the database answers.
func (s *DB) Ping(ctx context.Context) error {
	if err := s.pool.Ping(ctx); err != nil {
		return fmt.Errorf("ask the database: %w", err)
	}
	return nil
}

// Now returns the database's time, the only clock that counts.
func (s *DB) Now(ctx context.Context) (time.Time, error) {
	var now time.Time
	if err := s.pool.QueryRow(ctx, `SELECT coalesce($1::timestamptz, clock_timestamp())`, s.Fixed()).Scan(&now); err != nil {
		return time.Time{}, fmt.Errorf("ask the database's clock: %w", err)
	}
	return now, nil
}

// Fixed is the time that the options set; nil: the database's clock.
func (s *DB) Fixed() *time.Time {
	if s.Options.Now == nil {
		return nil
	}
	now := s.Options.Now().UTC()
	return &now
}

// NewID returns a row id: the prefix, an underscore and a ULID, e.g. clu_01J…. Later ids sort after earlier ones.
func NewID(prefix string) string { return prefix + "_" + ulid.Make().String() }
