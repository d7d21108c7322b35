package store

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/oklog/ulid/v2"
	"github.com/riverqueue/river"

	"github.com/ocpctl/ocpctl/lifecycle"
)

var errTODO = errors.New("not written yet")

var (
	ErrNotFound  = errors.New("not found")
	ErrStale     = errors.New("changed meanwhile")
	ErrNameTaken = errors.New("name is taken")
	ErrFenced    = errors.New("fenced")
	ErrConflict  = errors.New("conflict")
)

type Options struct {
	Limits       lifecycle.Limits
	Lease        time.Duration
	Installation string
	Now          func() time.Time
}
type Store struct{ pool *pgxpool.Pool }
type RiverConfig struct {
	Queues   map[string]int
	Periodic []*river.PeriodicJob
	Logger   *slog.Logger
}

func Open(ctx context.Context, url string, o Options) (*Store, error) { return nil, errTODO }
func Migrate(ctx context.Context, url string) error                   { return errTODO }
func NewClient(ctx context.Context, pool *pgxpool.Pool, workers *river.Workers, c RiverConfig) (*river.Client[pgx.Tx], error) {
	return nil, errTODO
}
func NewID(prefix string) string { return prefix + "_" + ulid.Make().String() }

func (s *Store) Close()                                                    {}
func (s *Store) Pool() *pgxpool.Pool                                       { return s.pool }
func (s *Store) Ping(ctx context.Context) error                            { return errTODO }
func (s *Store) Now(ctx context.Context) (time.Time, error)                { return time.Time{}, errTODO }
func (s *Store) Accept(ctx context.Context, a Acceptance) (Row, error)     { return Row{}, errTODO }
func (s *Store) Refuse(ctx context.Context, r Refusal) (string, error)     { return "", errTODO }
func (s *Store) Cluster(ctx context.Context, id string) (Row, error)       { return Row{}, errTODO }
func (s *Store) List(ctx context.Context, f Filter) ([]Row, string, error) { return nil, "", errTODO }
func (s *Store) ClusterForPR(ctx context.Context, repo string, number int, profile string) (Row, error) {
	return Row{}, errTODO
}
func (s *Store) Job(ctx context.Context, id string) (Job, error) { return Job{}, errTODO }
func (s *Store) LogTail(ctx context.Context, jobID string, lines int) ([]string, error) {
	return nil, errTODO
}
func (s *Store) SetEnd(ctx context.Context, id string, kind EndKind, at *time.Time, actor string) error {
	return errTODO
}
func (s *Store) Extend(ctx context.Context, id string, by time.Duration, actor string) (Row, bool, error) {
	return Row{}, false, errTODO
}
func (s *Store) Destroy(ctx context.Context, id, actor, why string) (string, error) {
	return "", errTODO
}
func (s *Store) SaveReply(ctx context.Context, r Reply) error { return errTODO }
func (s *Store) Audit(ctx context.Context, actor, action, cluster string, meta any) error {
	return errTODO
}
func (s *Store) Verifications(ctx context.Context, cluster string) ([]VerificationRow, error) {
	return nil, errTODO
}
func (s *Store) Conditions(ctx context.Context, cluster string) ([]Condition, error) {
	return nil, errTODO
}
func (s *Store) Timeline(ctx context.Context, cluster string) ([]Event, error) { return nil, errTODO }
func (s *Store) SaveDelivery(ctx context.Context, d Delivery) (bool, error)    { return false, errTODO }
func (s *Store) Delivery(ctx context.Context, row int64) (Delivery, bool, error) {
	return Delivery{}, false, errTODO
}
func (s *Store) FinishDelivery(ctx context.Context, row int64, note string) error { return errTODO }
func (s *Store) FailDelivery(ctx context.Context, row int64, note string) error   { return errTODO }
func (s *Store) SeePullRequest(ctx context.Context, pr PullRequest, reopened bool) (bool, error) {
	return false, errTODO
}
func (s *Store) PullRequest(ctx context.Context, repo string, number int) (PullRequest, error) {
	return PullRequest{}, errTODO
}
func (s *Store) Load(ctx context.Context, id string) (lifecycle.Cluster, lifecycle.Facts, error) {
	return lifecycle.Cluster{}, lifecycle.Facts{}, errTODO
}
func (s *Store) Apply(ctx context.Context, d lifecycle.Decision, prevVersion int64) error {
	return errTODO
}
func (s *Store) WakeDue(ctx context.Context, limit int) (int, error) { return 0, errTODO }
func (s *Store) OpenAttempt(ctx context.Context, cluster string) (LaunchSpec, error) {
	return LaunchSpec{}, errTODO
}
func (s *Store) AttemptSpec(ctx context.Context, attempt string) (SpecRow, error) {
	return SpecRow{}, errTODO
}
func (s *Store) Claim(ctx context.Context, attempt, token, pod string) (Lease, error) {
	return Lease{}, errTODO
}
func (s *Store) Record(ctx context.Context, attempt, token string, id IdentityRow, artifacts []ArtifactRow) (Lease, error) {
	return Lease{}, errTODO
}
func (s *Store) Report(ctx context.Context, attempt, token string, r ReportRow) (Lease, error) {
	return Lease{}, errTODO
}
func (s *Store) Result(ctx context.Context, attempt, token string, r ResultRow) (Lease, error) {
	return Lease{}, errTODO
}
func (s *Store) Subscribers(ctx context.Context, cluster string) ([]Subscriber, error) {
	return nil, errTODO
}
func (s *Store) SubscriberToShow(ctx context.Context, sub string) (Subscriber, Row, error) {
	return Subscriber{}, Row{}, errTODO
}
func (s *Store) Shown(ctx context.Context, sub string, externalID, version int64, bodyHash string) error {
	return errTODO
}
func (s *Store) Reply(ctx context.Context, id string) (Reply, error)            { return Reply{}, errTODO }
func (s *Store) Replied(ctx context.Context, id string, externalID int64) error { return errTODO }
