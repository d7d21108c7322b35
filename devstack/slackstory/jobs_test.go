package slackstory_test

import (
	"context"
	"errors"
	"reflect"
	"time"
	"unsafe"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/internal/queue"
)

// job is an unfinished row of River's.
type job struct {
	ID   int64
	Kind string
	Args []byte
}

// jobs are those that are due, oldest first. The periodic ones are run by rounds.
func (w *world) jobs() (due []job) {
	w.Helper()
	rows, err := w.store.Pool().Query(w.Context(), `SELECT id, kind, args::text::bytea AS args FROM river_job WHERE finalized_at IS NULL ORDER BY id`)
	require.NoError(w, err)
	all, err := pgx.CollectRows(rows, pgx.RowToStructByName[job])
	require.NoError(w, err)
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, j := range all {
		if !w.due[j.ID].After(w.now()) {
			due = append(due, j)
		}
	}
	return due
}

// work runs a job's worker once, as River does. What fails or waits stays in the queue, and so does what a process left that died.
func (w *world) work(j job) {
	err := w.try(j)
	var snooze *river.JobSnoozeError
	if err == nil {
		_, err = w.store.Pool().Exec(context.WithoutCancel(w.Context()), `DELETE FROM river_job WHERE id = $1`, j.ID)
		if err == nil {
			return
		}
	}
	wait := time.Second
	if errors.As(err, &snooze) {
		wait = snooze.Duration
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.due[j.ID] = w.now().Add(wait)
	w.failed[j.ID] = err
}

func (w *world) try(j job) (err error) {
	defer func() {
		if v := recover(); v != nil {
			if v != errDied {
				panic(v)
			}
			err = errDied
		}
	}()
	unit := unitOf(w.current().workers, &rivertype.JobRow{ID: j.ID, Kind: j.Kind, EncodedArgs: j.Args, CreatedAt: w.now(), Attempt: 1})
	if unit == nil || j.Kind == (queue.RemoveArgs{}).Kind() { // there is no bucket
		return nil
	}
	if err := unit.UnmarshalJob(); err != nil {
		return err
	}
	return unit.Work(w.Context())
}

// errDied ends a job as if its process had died.
var errDied = errors.New("the process died")

type unit interface {
	UnmarshalJob() error
	Work(ctx context.Context) error
}

// unitOf returns what River runs for a job; nil: no worker is registered for it. River runs jobs only when it likes, and a test has to
// run one at a time, at a moment of its own. So it reads the workers where River keeps them.
func unitOf(workers *river.Workers, row *rivertype.JobRow) unit {
	all := open(reflect.ValueOf(workers).Elem().FieldByName("workersMap"))
	info := all.MapIndex(reflect.ValueOf(row.Kind))
	if !info.IsValid() {
		return nil
	}
	held := reflect.New(info.Type()).Elem()
	held.Set(info)
	made := open(held.FieldByName("workUnitFactory")).MethodByName("MakeUnit").Call([]reflect.Value{reflect.ValueOf(row)})
	return made[0].Interface().(unit)
}

// open returns a field that is not exported as one that is.
func open(field reflect.Value) reflect.Value {
	return reflect.NewAt(field.Type(), unsafe.Pointer(field.UnsafeAddr())).Elem()
}
