package queue

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"
	"github.com/stretchr/testify/require"
)

func TestAQueueIsLookedAtWhenItsJobIsDueAgain(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		ends error
		wait time.Duration // 0: it does not run again
	}{
		"done": {}, "snoozed": {river.JobSnooze(7 * time.Second), 7 * time.Second}, "failed": {errors.New("no answer"), retryBase},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var looked []string
				a := again{notify: func(queue string) { looked = append(looked, queue) }}
				require.Equal(t, c.ends, a.Work(t.Context(), &rivertype.JobRow{Queue: QueueMessages}, func(context.Context) error { return c.ends }))
				time.Sleep(c.wait)
				synctest.Wait()
				require.Empty(t, looked)
				time.Sleep(2 * againLater)
				synctest.Wait()
				if c.wait > 0 {
					require.Equal(t, []string{QueueMessages}, looked)
				} else {
					require.Empty(t, looked)
				}
			})
		})
	}
}
