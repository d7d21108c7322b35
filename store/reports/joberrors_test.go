package reports_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"testing"

	"github.com/riverqueue/river"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/internal/queue"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/storetest"
)

func TestAFailedJobIsLoggedAndCounted(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	_, err := s.Inbox.SaveDelivery(t.Context(), storetest.Delivery("d-1"))
	require.NoError(t, err)
	workers := river.NewWorkers()
	river.AddWorker(workers, river.WorkFunc(func(context.Context, *river.Job[queue.InboxArgs]) error { return errors.New("GitHub is down") }))
	var words bytes.Buffer
	counted := make(chan string, 10)
	client, err := queue.NewClient(t.Context(), s.Pool(), workers, queue.RiverConfig{
		Log: slog.New(slog.NewJSONHandler(&words, nil)), OnError: func(kind string) { counted <- kind },
	})
	require.NoError(t, err)
	require.NoError(t, client.Start(t.Context()))
	require.Equal(t, "inbox", <-counted)
	require.NoError(t, client.Stop(context.WithoutCancel(t.Context())))
	var line map[string]any
	require.NoError(t, json.NewDecoder(&words).Decode(&line))
	row := storetest.Count(t, s, `SELECT id FROM deliveries`)
	var key map[string]int
	require.NoError(t, json.Unmarshal([]byte(line["key"].(string)), &key))
	require.Equal(t, map[string]int{"row": row}, key)
	require.Equal(t, []any{"WARN", "job failed", "inbox", float64(1), "", "d-1", "GitHub is down"},
		[]any{line["level"], line["msg"], line["kind"], line["attempt"], line["cluster"], line["correlation"], line["err"]})
}

func TestADeliveryThatFailsForFiveMinutesIsAFinding(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	_, err := s.Inbox.SaveDelivery(t.Context(), storetest.Delivery("d-1"))
	require.NoError(t, err)
	row := int64(storetest.Count(t, s, `SELECT id FROM deliveries`))
	require.NoError(t, s.Inbox.RetryDelivery(t.Context(), row, "GitHub is down", false, 0))
	found, err := s.Reports.WorkFindings(t.Context())
	require.NoError(t, err)
	require.Empty(t, found)
	_, err = s.Pool().Exec(t.Context(), `UPDATE deliveries SET failing_since = failing_since - interval '5 minutes'`)
	require.NoError(t, err)
	found, err = s.Reports.WorkFindings(t.Context())
	require.NoError(t, err)
	require.Len(t, found, 1)
	require.Equal(t, lifecycle.FailingDelivery, found[0].Kind)
	require.Contains(t, found[0].Evidence[1], "GitHub is down")
	_, err = s.Reports.SaveFindings(t.Context(), []lifecycle.FindingKind{lifecycle.FailingDelivery}, found)
	require.NoError(t, err)
	require.NoError(t, s.Inbox.FinishDelivery(t.Context(), row, "accepted"))
	found, err = s.Reports.WorkFindings(t.Context())
	require.NoError(t, err)
	require.Empty(t, found)
}

func TestAJobThatUsedUpItsTriesIsAFindingUntilOneLikeItSucceeds(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	insert := func(state string) {
		now, err := s.Now(t.Context())
		require.NoError(t, err)
		_, err = s.Pool().Exec(t.Context(), `INSERT INTO river_job (kind, queue, state, max_attempts, attempt, args, errors, finalized_at)
			VALUES ('publish', 'messages', $1::text::river_job_state, 10, 10, '{"subscriber": "sub_1", "version": 3}', ARRAY['{"error": "GitHub is down"}'::jsonb], $2::timestamptz + CASE $1::text WHEN 'completed' THEN interval '1 microsecond' ELSE interval '0' END)`, state, now)
		require.NoError(t, err)
	}
	judged := []lifecycle.FindingKind{lifecycle.FailedJob}
	insert("discarded")
	insert("discarded")
	found, err := s.Reports.WorkFindings(t.Context())
	require.NoError(t, err)
	require.Len(t, found, 1)
	require.Equal(t, "publish sub_1", found[0].Identity)
	require.Equal(t, "GitHub is down", found[0].Evidence[1])
	_, err = s.Reports.SaveFindings(t.Context(), judged, found)
	require.NoError(t, err)

	insert("completed")
	found, err = s.Reports.WorkFindings(t.Context())
	require.NoError(t, err)
	require.Empty(t, found)
	_, err = s.Reports.SaveFindings(t.Context(), judged, found)
	require.NoError(t, err)
	_, err = s.Pool().Exec(t.Context(), `DELETE FROM river_job WHERE state = 'completed'`)
	require.NoError(t, err)
	found, err = s.Reports.WorkFindings(t.Context())
	require.NoError(t, err)
	require.Empty(t, found, "River forgets what completed; what is fixed stays so")
}
