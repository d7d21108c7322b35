package web

import (
	"bufio"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/profiles"
	"github.com/ocpctl/ocpctl/store/clusters"
)

// event is one of a page's events: its name, and the parts that it brought.
type event struct {
	name, has string
	parts     map[string]string
}

// events reads a page's events until the stream ends.
type events struct {
	*browser
	answer *http.Response
	list   <-chan event
	failed <-chan error // how the stream ended; nil: it was complete
}

// follow asks for what changed on a page, and reads it as a browser does that accepts compressed events.
func (b *browser) follow(path, has string) *events {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.Context(), time.Minute)
	b.Cleanup(cancel)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, b.base+path, nil)
	require.NoError(b, err)
	r.Header.Set("Accept", "text/event-stream")
	r.Header.Set("Accept-Encoding", "gzip")
	r.Header.Set("Last-Event-ID", has)
	answer, err := b.Do(r)
	require.NoError(b, err)
	b.Cleanup(func() { _ = answer.Body.Close() })
	list, failed := make(chan event, 100), make(chan error, 1)
	e := &events{b, answer, list, failed}
	if answer.StatusCode != http.StatusOK || answer.Header.Get("Content-Type") != "text/event-stream" {
		return e
	}
	require.Equal(b, "gzip", answer.Header.Get("Content-Encoding"))
	go func() {
		defer close(list)
		failed <- readEvents(answer.Body, list)
	}()
	return e
}

func readEvents(body io.Reader, list chan<- event) error {
	plain, err := gzip.NewReader(body)
	if err != nil {
		return err
	}
	lines := bufio.NewReader(plain)
	for e := (event{}); ; {
		line, err := lines.ReadString('\n')
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		switch key {
		case "event":
			e.name = value
		case "id":
			e.has = value
		case "retry":
			e.name = "retry " + value
		case "data":
			var pairs [][2]string
			if e.name == "parts" {
				if err := json.Unmarshal([]byte(value), &pairs); err != nil {
					return err
				}
			}
			e.parts = map[string]string{}
			for _, p := range pairs {
				e.parts[p[0]] = p[1]
			}
		case "":
			if e.name != "" {
				list <- e
			}
			e = event{}
		}
	}
}

// next returns the next event.
func (e *events) next() event {
	e.Helper()
	select {
	case got, open := <-e.list:
		require.True(e, open, "the stream ended")
		return got
	case <-time.After(20 * time.Second):
		require.Fail(e, "no event came")
	}
	return event{}
}

// with returns the next event that brings a part. What a cluster costs is news by itself now and then.
func (e *events) with(id string) event {
	e.Helper()
	for {
		if got := e.next(); got.parts[id] != "" {
			return got
		}
	}
}

// afterParts returns the name of the next event that brings no parts.
func (e *events) afterParts() string {
	e.Helper()
	for {
		if got := e.next(); got.name != "parts" {
			return got.name
		}
	}
}

// ends waits for the complete end of the stream.
func (e *events) ends() {
	e.Helper()
	for range e.list { // what is left in it
	}
	require.NoError(e, <-e.failed)
}

var hashes = regexp.MustCompile(` data-has="([^"]*)"`)

// open opens a page, and returns it with the hashes of its parts.
func (b *browser) open(path string) (page, has string) {
	b.Helper()
	status, page, _ := b.get(path)
	require.Equal(b, http.StatusOK, status)
	found := hashes.FindStringSubmatch(page)
	require.NotNil(b, found, "the page is not kept up to date")
	return page, found[1]
}

// quick are times in which a test sees what takes minutes.
var quick = liveTimes{beat: 20 * time.Millisecond, check: 10 * time.Millisecond, life: time.Hour, pause: 20 * time.Millisecond, away: 30 * time.Second}

func newLiveFixture(t testing.TB, change func(*fixture)) *fixture {
	return newFixtureWith(t, func(h *fixture) {
		h.live = quick
		if change != nil {
			change(h)
		}
	})
}

func (h *fixture) release(row clusters.Row) {
	h.Helper()
	h.sql(`UPDATE clusters SET status = 'DESTROYED', phase = 'released', desired = 'absent', desired_why = '{"code":"other","words":"x"}', teardown = 'DESTROY', destroyed_at = now(),
		row_version = row_version + 1 WHERE id = $1`, row.ID)
}

func TestAnOpenPageGetsWhatChangedAndNothingElse(t *testing.T) {
	h := newLiveFixture(t, nil)
	row := h.accept("shop", "platform")
	b := h.as("maya")
	path := "/clusters/" + row.ID
	_, has := b.open(path)
	e := b.follow(path, has)
	require.Equal(t, "no-store, no-transform", e.answer.Header.Get("Cache-Control"))
	require.Equal(t, "no", e.answer.Header.Get("X-Accel-Buffering"))

	h.sql(`UPDATE clusters SET progress_percent = 41, progress_step = 'bootstrap', status = 'CREATING', phase = 'installing', row_version = row_version + 1 WHERE id = $1`, row.ID)
	got := e.with("state")
	require.Contains(t, got.parts["state"], "bootstrap · 41 %")
	require.Equal(t, "shop · CREATING · ocpctl", got.parts["title"])
	for _, id := range []string{"page", "timeline", "log-lines", "passes"} {
		require.NotContains(t, got.parts, id)
	}

	_, err := h.service.Extend(t.Context(), h.principal("maya"), row.ID, app.Span{For: time.Hour}, app.Origin{})
	require.NoError(t, err)
	got = e.with("timeline")
	require.Contains(t, got.parts["timeline"], "extended")
	page, now := b.open(path)
	require.Contains(t, page, got.parts["timeline"])
	require.Len(t, got.has, len(now), "the browser has what the page shows now")
}

func TestABrowserContinuesWithAnotherServerWhereItWas(t *testing.T) {
	h := newLiveFixture(t, nil)
	row := h.accept("shop", "platform")
	other := httptest.NewServer(h.handler(ownCatalogue(t)))
	t.Cleanup(other.Close)
	b := h.as("maya")
	path := "/clusters/" + row.ID
	_, has := b.open(path)
	h.sql(`UPDATE clusters SET why = '{"words":"somebody moved it"}', row_version = row_version + 1 WHERE id = $1`, row.ID)
	got := b.at(other.URL).follow(path, has).next()
	require.Contains(t, got.parts["state"], "somebody moved it")
	require.NotContains(t, got.parts, "page")
	all := b.follow(path, "").next()
	require.Contains(t, all.parts, "page", "who has nothing gets everything")
	require.Greater(t, len(all.parts), len(got.parts)+5)
}

func TestAListGetsTheRowThatChanged(t *testing.T) {
	h := newLiveFixture(t, nil)
	shop, pear := h.accept("shop", "platform"), h.accept("pear", "platform")
	b := h.as("maya")
	_, has := b.open("/clusters")
	e := b.follow("/clusters", has)
	h.sql(`UPDATE clusters SET owner = 'zoe', row_version = row_version + 1 WHERE id = $1`, shop.ID)
	got := e.next()
	require.Len(t, got.parts, 1)
	require.Contains(t, got.parts[shop.ID], ">zoe</td>")
	plum := h.accept("plum", "platform")
	got = e.with("clusters")
	require.Contains(t, got.parts[plum.ID], "plum")
	require.Contains(t, got.parts["clusters"], `<tr role="row" id="`+pear.ID+`" data-live></tr>`, "the browser keeps the rows that it has")
	require.NotContains(t, got.parts, pear.ID)
}

func TestThePageOfAClusterThatEndedAsksForNothing(t *testing.T) {
	h := newLiveFixture(t, nil)
	row := h.accept("shop", "platform")
	b := h.as("maya")
	path := "/clusters/" + row.ID
	_, has := b.open(path)
	e := b.follow(path, has)
	h.release(row)
	got := e.with("state")
	has = got.has
	require.Contains(t, got.parts["state"], "this page no longer updates itself")
	require.Equal(t, "end", e.next().name)
	e.ends()
	status, page, _ := b.get(path)
	require.Equal(t, http.StatusOK, status)
	require.NotContains(t, page, "data-has")
	again := b.follow(path, has)
	require.Equal(t, "end", again.next().name)
	again.ends()
}

func TestWhoLosesASessionOrARightGetsNothingMore(t *testing.T) {
	h := newLiveFixture(t, nil)
	row := h.shown("shop")
	path := "/clusters/" + row.ID
	maya, copied := h.browser(), h.browser()
	maya.signIn("maya")
	copied = maya.copied()
	_, has := maya.open(path)
	e := copied.follow(path, has)
	maya.post("/logout", nil)
	require.Equal(t, "reload", e.afterParts())
	e.ends()
	require.Equal(t, "/login", copied.follow(path, has).answer.Request.URL.Path)

	sid := h.as("sid")
	_, has = sid.open(path)
	e = sid.follow(path, has)
	h.sql(`DELETE FROM shares WHERE cluster_id = $1 AND grantee = $2`, row.ID, h.id("sid"))
	h.sql(`UPDATE clusters SET owner = 'zoe', row_version = row_version + 1 WHERE id = $1`, row.ID)
	require.Equal(t, "reload", e.afterParts(), "the change that followed was not shown")
	e.ends()
	require.Equal(t, http.StatusNotFound, h.as("rob").follow(path, has).answer.StatusCode)

	tess := h.as("tess")
	_, has = tess.open(path)
	e = tess.follow(path, has)
	h.identities.Store(&[]profiles.Identity{})
	require.Equal(t, "reload", e.afterParts(), "the catalogue took her role away, and nothing else happened")
	e.ends()
}

func TestTheStartPageIsKeptUpToDate(t *testing.T) {
	h := newLiveFixture(t, nil)
	row := h.make("maya", "shop", "platform", 2).Row
	b := h.as("maya")
	_, has := b.open("/")
	e := b.follow("/", has)
	h.fail(row.ID)
	h.sql(`UPDATE clusters SET row_version = row_version + 1 WHERE id = $1`, row.ID)
	got := e.with("todo")
	require.Contains(t, got.parts["todo"], "could not be created, and nothing of it is left")
	require.Contains(t, got.parts["mine"], "You have no clusters")
}

func TestAStreamEndsAtItsTimeAndWithTheServer(t *testing.T) {
	stopping, stop := context.WithCancel(t.Context())
	h := newLiveFixture(t, func(h *fixture) { h.stopping = stopping })
	row := h.accept("shop", "platform")
	b := h.as("maya")
	_, has := b.open("/clusters/" + row.ID)
	e := b.follow("/clusters/"+row.ID, has)
	stop()
	e.ends()
	require.Zero(t, h.streams.Taken(), "it gave its place back")

	h = newLiveFixture(t, func(h *fixture) { h.live.life = time.Millisecond })
	h.accept("shop", "platform")
	b = h.as("maya")
	_, has = b.open("/clusters")
	e = b.follow("/clusters", has)
	require.Equal(t, "retry 0", e.next().name, "the browser asks anew at once")
	e.ends()
}

func TestWithoutAPlaceAPageIsBroughtUpToDateNowAndThen(t *testing.T) {
	h := newLiveFixture(t, nil)
	row := h.accept("shop", "platform")
	b := h.as("maya")
	_, has := b.open("/clusters")
	for {
		if _, found := h.streams.Take(h.id("maya")); !found {
			break
		}
	}
	h.sql(`UPDATE clusters SET owner = 'zoe', row_version = row_version + 1 WHERE id = $1`, row.ID)
	e := b.follow("/clusters", has)
	require.Contains(t, e.next().parts[row.ID], "zoe")
	require.Equal(t, "retry 30000", e.next().name)
	e.ends()
	will := h.as("will")
	_, has = will.open("/clusters")
	e = will.follow("/clusters", has)
	h.sql(`UPDATE clusters SET owner = 'tom', row_version = row_version + 1 WHERE id = $1`, row.ID)
	require.Contains(t, e.next().parts[row.ID], "tom", "others have their own")
}

// A query that fails ends the stream, and the browser asks again.
func TestAnOpenPageWaitsForTheDatabase(t *testing.T) {
	h := newLiveFixture(t, nil)
	h.accept("shop", "platform")
	b := h.browser()
	b.signIn("maya")
	_, has := b.open("/clusters")
	e := b.follow("/clusters", has)
	h.sql(`ALTER TABLE ended_sessions RENAME TO away`)
	e.ends()
	h.sql(`ALTER TABLE away RENAME TO ended_sessions`)
	_, now := b.open("/clusters")
	require.Equal(t, has, now)
}

func TestThePauseGrowsWithTheOpenPages(t *testing.T) {
	h := newLiveFixture(t, nil)
	o := &openPage{pages: &pages{Config: Config{live: usualTimes, Streams: h.streams}}}
	require.Equal(t, usualTimes.pause/10, o.pauseNow(), "it was quiet")
	o.rendered = time.Now()
	require.InDelta(t, usualTimes.pause.Seconds(), o.pauseNow().Seconds(), 0.5)
	for i := range 1000 {
		_, found := h.streams.Take(fmt.Sprint(i))
		require.True(t, found)
	}
	require.InDelta(t, 10, o.pauseNow().Seconds(), 0.5)
}

// What the parts hold, put into each other, is the page.
func TestEveryPartIsMarkedAndThePartsMakeThePage(t *testing.T) {
	d := details(func(r *clusters.Row) { r.Status, r.Phase = lifecycle.Destroying, lifecycle.Verifying })
	d.Verifications = proofOf(2, 3)
	p := &pages{Config: Config{Now: func() time.Time { return noon }}, views: parseTemplates(nil, readAssets())}
	v := detailOf(d)
	v.Can = offersOf(policy.As("x", "Maya", policy.PlatformAdmin), d.Row, policy.ClusterAdmin, nil, nil, profiles.Catalogue{})
	list := listView{Rows: []clusters.Row{d.Row}}
	for name, view := range map[string]any{"detail": v, "list": list} {
		main, parts, err := p.renderParts(name, frame{Now: noon, View: view})
		require.NoError(t, err)
		require.NotContains(t, main, markBegin)
		require.Equal(t, "title", parts[0].id)
		shell, _, _ := strings.Cut(main, liveElement(t, main, parts[1].id))
		whole := shell + liveElement(t, main, parts[1].id) + parts[1].html
		for _, part := range parts[2:] {
			tag := liveElement(t, main, part.id)
			require.Contains(t, whole, tag+"</", "it is empty where it is in another part")
			whole = strings.Replace(whole, tag, tag+part.html, 1)
		}
		require.Contains(t, main, whole, "the parts, put into each other, are the page")
		require.Len(t, parts[1:], strings.Count(main, " data-live"))
	}
}

// liveElement returns the opening tag of an element that is kept up to date.
func liveElement(t *testing.T, page, id string) string {
	t.Helper()
	tag := regexp.MustCompile(`<[a-z]+ [^>]*id="` + id + `" [^>]*>`).FindString(page)
	require.Contains(t, tag, "data-live", id)
	return tag
}

func TestOnlyTimeChangedIsNoNews(t *testing.T) {
	text := func(now time.Time) part { return newPart("a", "<p>"+string(formatAway(now, noon))+" it ends</p>") }
	early, late := text(noon.Add(-time.Hour)), text(noon.Add(-time.Minute))
	require.NotEqual(t, early.html, late.html)
	require.Equal(t, early.hash, late.hash)
	require.NotEqual(t, early.hash, newPart("b", early.html).hash)
	require.Equal(t, []part{late}, missingParts([]part{early, late}, "")[1:])
	require.Empty(t, missingParts([]part{late}, hashesOf([]part{newPart("x", "y"), early})))
	require.Empty(t, formatAway(noon, time.Time{}))
}
