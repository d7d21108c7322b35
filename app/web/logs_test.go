package web

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/store/clusters"
)

// logged gives a cluster an attempt that logged lines; failing is the one by which its failure was recognized.
func (h *fixture) logged(row clusters.Row, number int, kind, failing string, lines ...string) {
	h.Helper()
	attempt := fmt.Sprintf("att_%d", number)
	h.sql(`INSERT INTO attempts (id, cluster_id, job_id, number, kind, token_id, opened_at, phase, closed_at, outcome, reason, message, failing_line)
		VALUES ($1, $2, $3, $4, $5, $1, now(), 'installing', now(), CASE WHEN $6 = '' THEN 'succeeded' ELSE 'failed' END, 'QuotaExceeded', 'the quota is full', $6)`, attempt, row.ID, row.JobID, number, kind, failing)
	h.sql(`INSERT INTO reports (attempt_id, seq, phase, percent, step, received_at) VALUES ($1, 1, 'installing', 1, '', now())`, attempt)
	h.sql(`INSERT INTO log_chunks (attempt_id, seq, body, received_at) VALUES ($1, 1, $2, now())`, attempt, strings.Join(lines, "\n")+"\n")
}

func TestTheWholeLogOfEachAttemptIsAPage(t *testing.T) {
	h := newFixture(t)
	row := h.accept("shop", "platform")
	b := h.as("maya")
	at := "/clusters/" + row.ID + "/logs"
	status, page, _ := b.get(at)
	require.Equal(t, http.StatusOK, status)
	require.Contains(t, page, "Nothing was logged yet")

	var lines []string
	for i := 1; i <= 2500; i++ {
		lines = append(lines, fmt.Sprintf("line number %d", i))
	}
	lines[1999] = `level=error msg="quota <full>"`
	h.logged(row, 1, "create", lines[1999], lines...)
	h.logged(row, 2, "configure", "", "add-ons are there")

	_, page, answer := b.get(at)
	require.Equal(t, at+"/1?from=1980#L2000", answer.Request.URL.RequestURI()+"#"+answer.Request.URL.Fragment, "it leads to what failed, in view")
	require.Contains(t, page, `<span id="L2000" class="fails"><a href="#L2000" tabindex="-1">2000</a>level=error msg=&#34;quota &lt;full&gt;&#34;`)
	require.Contains(t, page, `Attempt 1 failed (QuotaExceeded).</strong> <a href="/clusters/`+row.ID+`/logs/1?from=1980#L2000">Line 2000</a> says why.`)
	require.Contains(t, page, `Lines 1980 to <span id="last">2500</span> of <span id="total">2500</span>`)
	require.Contains(t, page, `aria-label="Other"><strong>Other</strong><a href="/clusters/`+row.ID+`/logs/2?from=1">attempt 2, configure</a>`)

	h.logged(row, 3, "destroy", "", "nothing is left")
	_, _, answer = b.get(at)
	require.Equal(t, at+"/3?from=1", answer.Request.URL.RequestURI(), "the newest create or teardown")
	h.fail(row.ID)
	_, _, answer = b.get(at)
	require.Equal(t, at+"/1?from=1980", answer.Request.URL.RequestURI(), "the cleanup does not hide the install that failed")

	_, page, _ = b.get(at + "/1?find=NUMBER+123&wrap=no")
	require.Contains(t, page, "11 lines with “NUMBER 123”")
	require.Contains(t, page, `<a href="/clusters/`+row.ID+`/logs/1?find=NUMBER&#43;123&amp;from=1212&amp;wrap=no#L1232">1232</a> <code>line number 1232</code>`)
	require.Contains(t, page, `class="log nowrap"`)
	require.Contains(t, page, `rel="next"`)
	_, page, _ = b.get(at + "/1?find=line")
	require.Contains(t, page, "200 lines with “line”, and maybe more")
	require.Contains(t, page, "on=201")

	_, raw, answer := b.get(at + "/1/log.txt")
	require.Equal(t, `attachment; filename="shop-create-1.log"`, answer.Header.Get("Content-Disposition"))
	require.Equal(t, strings.Join(lines, "\n")+"\n", raw)
	status, page, _ = b.get(at + "/7")
	require.Equal(t, http.StatusNotFound, status)
	require.Contains(t, page, "There is no log of attempt 7 of shop.")
	status, _, _ = h.as("rob").get(at + "/1/log.txt")
	require.Equal(t, http.StatusNotFound, status, "another team's")
}

func TestALogThatGrowsIsFollowed(t *testing.T) {
	h := newFixture(t)
	row := h.accept("shop", "platform")
	h.logged(row, 1, "create", "", "one", "two")
	b := h.as("maya")
	at := "/clusters/" + row.ID + "/logs/1"
	_, page, _ := b.get(at)
	require.NotContains(t, page, "log.js", "it has ended")
	h.sql(`ALTER TABLE attempts DISABLE TRIGGER USER`)
	h.sql(`UPDATE attempts SET closed_at = NULL, outcome = NULL WHERE id = 'att_1'`)
	_, page, _ = b.get(at)
	require.Contains(t, page, "log.js")
	require.Contains(t, page, `data-last="2"`)
	h.sql(`INSERT INTO reports (attempt_id, seq, phase, percent, step, received_at) VALUES ('att_1', 2, 'installing', 1, '', now())`)
	h.sql(`INSERT INTO log_chunks (attempt_id, seq, body, received_at, lines) VALUES ('att_1', 2, E'three\n', now(), 1)`)
	_, page, _ = b.get(at + "?after=2")
	require.Contains(t, page, `<span id="L3"><a href="#L3" tabindex="-1">3</a>three`)
	require.NotContains(t, page, `id="L2"`)
	require.Contains(t, page, `data-last="3"`)
	require.Contains(t, page, "data-follows")
	for _, after := range []string{"3", "9223372036854775807"} {
		_, page, _ = b.get(at + "?after=" + after)
		require.Contains(t, page, `data-last="3"`, "nothing came")
	}
	h.sql(`INSERT INTO reports (attempt_id, seq, phase, percent, step, received_at) VALUES ('att_1', 3, 'installing', 1, '', now())`)
	h.sql(`INSERT INTO log_chunks (attempt_id, seq, body, received_at, lines) VALUES ('att_1', 3, repeat(E'more\n', 2000), now(), 2000)`)
	_, page, _ = b.get(at + "?after=3")
	require.Contains(t, page, `data-last="1003"`, "the script goes on after what it has")
	require.Contains(t, page, `rel="next"`)
	require.NotContains(t, page, "data-follows")
}
