package controller_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/attempts"
	"github.com/ocpctl/ocpctl/store/clusters"
)

const runbooks = "../docs/runbooks/"

// statements returns the SQL of a runbook, with psql's variables filled in.
func statements(t *testing.T, page, cluster, attempt string) (list []string) {
	t.Helper()
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	fill := strings.NewReplacer(":'cluster'", "'"+cluster+"'", ":'attempt'", "'"+attempt+"'")
	for _, block := range regexp.MustCompile("(?s)```sql\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
		for sql := range strings.SplitSeq(block[1], ";\n") {
			if sql = strings.TrimSpace(sql); sql != "" {
				list = append(list, fill.Replace(sql))
			}
		}
	}
	return list
}

// blocked is a cluster whose teardown waits for a person.
func (h *fixture) blocked(name string) (clusters.Row, attempts.LaunchSpec) {
	h.t.Helper()
	row, open := h.installing(name)
	_, err := h.store.Attempts.Result(h.ctx, open.Attempt, open.Token, attempts.ResultRow{Outcome: lifecycle.Failure, Reason: "InstallFailed", Message: "no quota"})
	require.NoError(h.t, err)
	for range limits.BlockAfter {
		h.reconcile(row.ID)
		h.pass(limits.LaunchPatience / 2) // longer than the wait for the next try
		h.reconcile(row.ID)
		next := h.open(row.ID)
		_, err := h.store.Attempts.Claim(h.ctx, next.Attempt, next.Token, "pod")
		require.NoError(h.t, err)
		_, err = h.store.Attempts.Result(h.ctx, next.Attempt, next.Token, attempts.ResultRow{Outcome: lifecycle.Failure, Reason: "LeftoversFound", Message: "vpc-1"})
		require.NoError(h.t, err)
	}
	h.reconcile(row.ID)
	require.Equal(h.t, lifecycle.DestroyBlocked, h.cluster(row.ID).Phase)
	return row, open
}

func TestEveryStatementOfTheRunbooksRuns(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	row, open := h.blocked("shop")
	pages, err := filepath.Glob(runbooks + "*.md")
	require.NoError(t, err)
	require.Len(t, pages, 28)
	n := 0
	for _, page := range pages {
		for _, sql := range statements(t, page, row.ID, open.Attempt) {
			tx, err := h.store.Pool().Begin(h.ctx)
			require.NoError(t, err)
			_, err = tx.Exec(h.ctx, sql)
			require.NoError(t, tx.Rollback(h.ctx)) // before anything fails: an open one would keep the fixture from closing
			require.NoError(t, err, "%s: %s", page, sql)
			n++
		}
	}
	require.Greater(t, n, 12)
}

func TestTheRunbookOfABlockedTeardownBringsTheNextTryForward(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	row, open := h.blocked("shop")
	was := len(h.attempts(row.ID))
	h.reconcile(row.ID)
	require.Len(t, h.attempts(row.ID), was, "the next attempt is not due")
	h.now2real()
	run := func(text string) {
		for _, sql := range statements(t, runbooks+"destroy-blocked.md", row.ID, open.Attempt) {
			if strings.Contains(sql, text) {
				tag, err := h.store.Pool().Exec(h.ctx, sql)
				require.NoError(t, err)
				require.Equal(t, int64(1), tag.RowsAffected())
			}
		}
	}
	run("retry_at = now()")
	run("retry_asked")
	h.reconcile(row.ID)
	require.Equal(t, "destroy open", h.attempts(row.ID)[was])
	events, err := h.store.Timeline(h.ctx, row.ID)
	require.NoError(t, err)
	require.Equal(t, "blockers freed", events[len(events)-2].Why)
}

// now2real lets the dictated clock go on from the real time, as statements with now() do.
func (h *fixture) now2real() {
	var now time.Time
	require.NoError(h.t, h.store.Pool().QueryRow(h.ctx, `SELECT now() + interval '1 second'`).Scan(&now))
	h.clock.Store(&now)
}

func TestTheRunbooksNameOnlyWhatThereIs(t *testing.T) {
	pages, err := filepath.Glob(runbooks + "*.md")
	require.NoError(t, err)
	configuration, err := os.ReadFile("../deploy/ocpctl.yaml")
	require.NoError(t, err)
	for _, page := range pages {
		text, err := os.ReadFile(page)
		require.NoError(t, err)
		for _, link := range regexp.MustCompile(`\]\(([a-z-]+\.md)\)`).FindAllStringSubmatch(string(text), -1) {
			require.FileExists(t, runbooks+link[1], page)
		}
		for _, field := range regexp.MustCompile("`(?:limits|runner|github)\\.([a-z_]+)").FindAllStringSubmatch(string(text), -1) {
			require.Contains(t, string(configuration), " "+field[1]+":", fmt.Sprint(page, " names a setting that is not explained"))
		}
	}
}
