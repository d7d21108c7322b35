package web

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/oidc"
	"github.com/ocpctl/ocpctl/devstack/postgres/pgtest"
	"github.com/ocpctl/ocpctl/store/attempts"
	"github.com/ocpctl/ocpctl/store/clusters"
)

// proofOf is a proof with so many passes of so many queries.
func proofOf(passes, queries int) (proof []attempts.VerificationRow) {
	type query struct {
		Service string    `json:"service"`
		Call    string    `json:"call"`
		Region  string    `json:"region"`
		Asked   string    `json:"asked"`
		At      time.Time `json:"at"`
		Count   int       `json:"count"`
	}
	for n := range passes {
		var list []query
		for i := range queries {
			list = append(list, query{"ec2", fmt.Sprint("DescribeThings", i%40), fmt.Sprint("us-east-", i%17), fmt.Sprintf("tag:kubernetes.io/cluster/shop-x7k2p=owned, page %d", i), noon.Add(time.Duration(i) * time.Second), 0})
		}
		raw, _ := json.Marshal(list) // plain values
		proof = append(proof, attempts.VerificationRow{Attempt: 2, Number: n + 1, At: noon, Identities: []string{"shop-x7k2p"}, Control: "the zone is visible", Clean: true, Account: "123456789012", Queries: raw})
	}
	return proof
}

const (
	benchPages   = 1000
	benchRounds  = 40
	oldReadEvery = 2 * time.Second // how often each open page used to read its whole HTML
)

// wire is a browser's connection, which counts the bytes that come in.
type wire struct {
	net.Conn
	bytes *atomic.Int64
}

func (w wire) Read(p []byte) (int, error) {
	n, err := w.Conn.Read(p)
	w.bytes.Add(int64(n))
	return n, err
}

// openRaw asks for a path over a connection of its own, and returns when the first bytes came.
func (b *browser) openRaw(path, has string, got *atomic.Int64) net.Conn {
	b.Helper()
	home, err := url.Parse(b.base)
	require.NoError(b, err)
	conn, err := net.Dial("tcp", home.Host)
	require.NoError(b, err)
	cookie := b.Jar.Cookies(home)[0]
	_, err = fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: %s\r\nCookie: %s\r\nAccept: text/event-stream\r\nAccept-Encoding: gzip\r\nLast-Event-ID: %s\r\n\r\n", path, home.Host, cookie.String(), has)
	require.NoError(b, err)
	w := wire{conn, got}
	_, err = w.Read(make([]byte, 4096))
	require.NoError(b, err)
	go func() { _, _ = io.Copy(io.Discard, w) }()
	return w
}

// BenchmarkOpenPages opens a thousand pages of clusters that are being installed, each of one of a hundred people, and measures what
// they cost while nothing happens, what the change of a cluster costs, and beside it what they cost when each read its whole HTML every
// two seconds. Signs of life come as often as it takes to measure them; processor time is that of server, readers and PostgreSQL.
func BenchmarkOpenPages(b *testing.B) {
	h := newFixtureWith(b, func(h *fixture) {
		h.live = usualTimes
		h.live.beat = 500 * time.Millisecond
		h.live.check = h.live.beat * 3 / 5
	})
	row := h.accept("shop", "platform")
	h.sql(`UPDATE clusters SET status = 'CREATING', phase = 'installing', row_version = row_version + 1 WHERE id = $1`, row.ID)
	h.addProof(row)
	path := "/clusters/" + row.ID
	var people []*browser
	for i := range 100 {
		raw, err := h.issuer.Token(oidc.Claims{Subject: fmt.Sprint("p", i), Name: "P", Role: "requester", Groups: []string{"platform"}})
		require.NoError(b, err)
		people = append(people, h.bearing(raw))
	}
	for b.Loop() {
		_, has := people[0].open(path)

		began, beganDB := pgtest.ReadCPU(b, h.store.Pool())
		var old int64
		const reads = 200
		for i := range reads {
			old += people[i%len(people)].wholePage(path)
		}
		ended, endedDB := pgtest.ReadCPU(b, h.store.Pool())
		perRead := (ended - began + endedDB - beganDB) / reads
		b.ReportMetric(float64(old)/reads*float64(time.Minute/oldReadEvery)/1000, "old-kB/min")
		b.ReportMetric(100*float64(benchPages)*perRead.Seconds()/oldReadEvery.Seconds(), "old-%core")

		var got atomic.Int64
		var conns []net.Conn
		for i := range benchPages {
			conns = append(conns, people[i%len(people)].openRaw(path, has, &got))
		}
		opening := float64(got.Load()) / benchPages
		before := got.Load()
		began, beganDB = pgtest.ReadCPU(b, h.store.Pool())
		until(benchRounds * h.live.beat)
		ended, endedDB = pgtest.ReadCPU(b, h.store.Pool())
		beat := float64(got.Load()-before) / benchPages / benchRounds
		perMinute := beat*float64(time.Minute)/float64(usualTimes.beat) + opening*float64(time.Minute)/float64(usualTimes.life)
		b.ReportMetric(perMinute, "idle-B/min")
		round := (ended - began + endedDB - beganDB).Seconds() / benchRounds
		opens := perRead.Seconds() * benchPages / usualTimes.life.Seconds() // each asks anew after its stream's life, which renders it
		b.ReportMetric(100*(round/usualTimes.beat.Seconds()+opens), "idle-%core")
		for _, c := range conns {
			require.NoError(b, c.Close())
		}

		h.measureChanges(b, people[0], row)
	}
}

// measureChanges reports how many bytes reach a browser for a step of a runner, for a line in a full log and for a counted pass.
func (h *fixture) measureChanges(b *testing.B, who *browser, row clusters.Row) {
	h.live = usualTimes
	h.live.pause = 50 * time.Millisecond
	server := httptest.NewServer(h.handler(ownCatalogue(b)))
	defer server.Close()
	var got atomic.Int64
	who = who.at(server.URL)
	who.Transport = &http.Transport{DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, network, address)
		return wire{conn, &got}, err
	}}
	path := "/clusters/" + row.ID
	_, has := who.open(path)
	e := who.follow(path, has)
	for _, change := range []struct{ name, part, sql string }{
		{"step", "state", `UPDATE clusters SET progress_percent = progress_percent % 90 + 1, progress_step = 'bootstrap', row_version = row_version + 1 WHERE id = $1`},
		{"log", "log-lines", `WITH report AS (
			INSERT INTO reports (attempt_id, seq, phase, percent, step, received_at) VALUES ('att_bench', 1, 'verifying', 1, '', now()) RETURNING 1), lines AS (
			INSERT INTO log_chunks (attempt_id, seq, body, received_at)
			SELECT 'att_bench', 1, string_agg('level=info msg="' || md5(i::text) || ' Waiting up to 20m0s for the Kubernetes API at https://api.shop.labs.example.com:6443..."', chr(10)), now()
			FROM generate_series(1, 60) i, report RETURNING 1)
			SELECT pg_notify('ocpctl_changes', 'log ' || $1) FROM lines`},
		{"pass", "passes", `WITH more AS (
			INSERT INTO verifications (attempt_id, number, received_at, account, identities, control, queries, leftovers, blockers, clean)
			SELECT attempt_id, number + 1, now(), account, identities, control, queries, leftovers, blockers, clean FROM verifications ORDER BY number DESC LIMIT 1 RETURNING 1)
			SELECT pg_notify('ocpctl_changes', 'cluster ' || $1) FROM more`},
	} {
		before := got.Load()
		h.sql(change.sql, row.ID)
		for e.next().parts[change.part] == "" {
		}
		b.ReportMetric(float64(got.Load()-before), change.name+"-B")
	}
	require.NoError(b, e.answer.Body.Close())
}

// addProof gives a cluster an attempt whose count found nothing in one pass.
func (h *fixture) addProof(row clusters.Row) {
	h.sql(`INSERT INTO attempts (id, cluster_id, job_id, number, kind, token_id, opened_at, phase) SELECT 'att_bench', $1, id, 1, 'destroy', 'token_bench', now(), 'verifying' FROM jobs WHERE cluster_id = $1`, row.ID)
	for _, pass := range proofOf(1, 300) {
		h.sql(`INSERT INTO verifications (attempt_id, number, received_at, account, identities, control, queries, leftovers, blockers, clean) VALUES ('att_bench', 1, now(), $1, $2, $3, $4, '[]', '[]', true)`,
			pass.Account, pass.Identities, pass.Control, pass.Queries)
	}
}

// until lets the time pass in which something is measured.
func until(d time.Duration) { <-time.After(d) }

// wholePage returns how many bytes of HTML a page has.
func (b *browser) wholePage(path string) int64 {
	b.Helper()
	r, err := http.NewRequestWithContext(b.Context(), http.MethodGet, b.base+path, nil)
	require.NoError(b, err)
	r.Header.Set("Accept-Encoding", "identity")
	answer, err := b.Do(r)
	require.NoError(b, err)
	defer answer.Body.Close()
	n, err := io.Copy(io.Discard, answer.Body)
	require.NoError(b, err)
	return n
}
