package web

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheGalleryShowsPriceTimesAndTheNewestCreates(t *testing.T) {
	h := newFixture(t)
	for i, name := range []string{"fast", "slow", "wrong"} {
		row := h.make("maya", name, "platform", 2).Row
		h.sql(`INSERT INTO attempts (id, cluster_id, job_id, number, kind, token_id, opened_at, phase, closed_at, outcome, reason)
			VALUES ($1, $2, $3, 1, 'create', $1, now() - interval '1 hour', 'installing', now(), CASE WHEN $4 THEN 'failed' ELSE 'succeeded' END, 'QuotaExceeded')`, "att_"+name, row.ID, row.JobID, name == "wrong")
		if name == "wrong" {
			h.fail(row.ID)
			continue
		}
		h.sql(`ALTER TABLE clusters DISABLE TRIGGER USER`)
		h.sql(`UPDATE clusters SET status = 'READY', phase = 'ready', ready_at = now() - interval '1 hour' + ($2 * interval '10 minutes') WHERE id = $1`, row.ID, i+2)
		h.sql(`ALTER TABLE clusters ENABLE TRIGGER USER`)
	}
	_, page, _ := h.as("maya").get("/profiles")
	card := between(page, `id="p-aws-minimal-test"`, "</article>")
	for _, want := range []string{
		`href="/new?profile=aws-minimal-test" aria-label="Create a cluster of aws-minimal-test"`, "<dt>An hour</dt><dd>$0.74</dd>", "<dt>A day</dt><dd>$17.76</dd>",
		"<dt>Ready, half within</dt><dd>25 min</dd>", "Last 3 creates <small>2 ready, 1 failed</small>", "fast: ready in 20 min", "slow: ready in 30 min", "wrong: failed after 1 h (QuotaExceeded)", `<g class="failed">`, ">✕</text>",
		"create: QuotaExceeded, 1 attempt, last",
	} {
		require.Contains(t, card, want)
	}
	_, page, _ = h.as("rob").get("/profiles")
	card = between(page, `id="p-aws-minimal-test"`, "</article>")
	require.Contains(t, card, "ready in 20 min")
	require.NotContains(t, card, "fast", "another team's clusters have no name")
	_, page, _ = h.as("ada").get("/profiles")
	require.NotContains(t, page, "/new?profile=")
}

func TestCostOverTimeIsShownWithATable(t *testing.T) {
	h := newFixture(t)
	row := h.make("maya", "shop", "platform", 2).Row
	h.ready(row)
	h.sql(`UPDATE usage_samples SET state = 'READY', estimated_hourly_cost = 74, sample_time = sample_time - interval '1 hour'`)
	_, page, _ := h.as("maya").get("/usage/days")
	for _, want := range []string{"Cost by day", "Spent since the month", "Saved by sleep", `<span class="swatch s0"></span> platform`, "Table of the days", "by profile"} {
		require.Contains(t, page, want)
	}
	status, page, _ := h.as("maya").get("/usage/days?month=soon")
	require.Equal(t, 400, status)
	require.Contains(t, page, "is not a month")
}
