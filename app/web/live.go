package web

import (
	"bytes"
	"context"
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"reflect"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/app/auth"
	"github.com/ocpctl/ocpctl/internal/eventstream"
	"github.com/ocpctl/ocpctl/policy"
)

// content is what a page shows to somebody now.
type content struct {
	name  string // of its template
	view  any
	ended bool // nothing of it changes any more
}

// reader reads what a page shows to somebody. It refuses what they may not see.
type reader func(*http.Request, policy.Principal) (content, error)

// liveTimes say how a page is kept up to date.
type liveTimes struct {
	beat  time.Duration // between two signs of life. Proxies give a silent connection up after a minute or less
	check time.Duration // between two looks for ended sessions; with beat less than a minute
	life  time.Duration // of a stream, about: after that the browser asks anew, so that texts that only time changes are right again
	pause time.Duration // between two renderings of one page, and before the first: changes come together
	away  time.Duration // for which a browser stays away that found no place
}

var usualTimes = liveTimes{beat: 25 * time.Second, check: 15 * time.Second, life: 10 * time.Minute, pause: time.Second, away: 30 * time.Second}

const (
	// mostRenders is how many pages are rendered at a time for streams. The rest of the server's database connections are for requests.
	mostRenders = 4
	// renderShare makes the pause between two renderings of a page longer when many pages are open: all pages together are rendered at
	// most a hundred times a second.
	renderShare = 10 * time.Millisecond
)

// isStream reports whether a request asks for the events of a page instead of the page itself.
func isStream(r *http.Request) bool {
	id, ofCluster := strings.CutPrefix(r.URL.Path, "/clusters/")
	return r.Method == http.MethodGet && r.Header.Get("Accept") == "text/event-stream" && (r.URL.Path == "/" || r.URL.Path == listPath || ofCluster && !strings.Contains(id, "/"))
}

// serveLive serves a page, or what changes on it as server-sent events. Both are read and refused in the same way. A browser says with
// Last-Event-ID what it has, so that it can continue with any server.
func (p *pages) serveLive(read reader) handler {
	return func(w http.ResponseWriter, r *http.Request, who policy.Principal) {
		w.Header().Add("Vary", "Accept")
		if isStream(r) {
			p.followPage(w, r, who, read)
			return
		}
		c, err := read(r, who)
		if err != nil {
			p.showError(w, r, who, err)
			return
		}
		p.renderContent(w, r, who, http.StatusOK, c)
	}
}

// followPage sends what changes on a page until it ends. Without a free place it is brought up to date once, and the browser comes back.
func (p *pages) followPage(w http.ResponseWriter, r *http.Request, who policy.Principal, read reader) {
	o := &openPage{pages: p, w: w, r: r, read: read, session: sessionOf(r), out: eventstream.New(w).Packed(r), has: r.Header.Get("Last-Event-ID")}
	ctx, cancel := eventstream.Until(r, o.session.Expires, p.Stopping)
	defer cancel()
	defer o.out.End()
	leave, found := p.Streams.Take(who.ID)
	if !found {
		if o.sendUpdate(ctx) {
			_ = o.out.Retry(p.live.away) // the browser disconnected
		}
		return
	}
	defer leave()
	defer p.sessions.addPage(o.session.ID)()
	o.followChanges(ctx)
}

// openPage is a page that a browser shows and keeps up to date.
type openPage struct {
	*pages
	w        http.ResponseWriter
	r        *http.Request
	read     reader
	session  auth.Session
	out      *eventstream.Stream
	has      string    // hashes of the parts that the browser has
	rendered time.Time // last
}

func (o *openPage) followChanges(ctx context.Context) {
	changes, stop := o.App.Changes(ctx, o.r.PathValue("id"))
	defer stop()
	if !o.sendUpdate(ctx) {
		return
	}
	beats := time.NewTicker(o.live.beat)
	defer beats.Stop()
	end := time.NewTimer(addJitter(o.live.life))
	defer end.Stop()
	for due := (<-chan time.Time)(nil); ; { // due is nil while nothing changed
		next := o.sendBeat
		select {
		case <-ctx.Done():
			return
		case <-end.C:
			_ = o.out.Retry(0) // the browser disconnected
			return
		case _, open := <-changes:
			if !open {
				return
			}
			if due == nil {
				due = time.After(o.pauseNow())
			}
			continue
		case <-due:
			due, next = nil, o.sendUpdate
		case <-beats.C:
		}
		if !next(ctx) {
			return
		}
	}
}

// pauseNow returns how long a page that changed waits until it is rendered. A page that was quiet waits only for what changes together.
func (o *openPage) pauseNow() time.Duration {
	gap := max(o.live.pause, renderShare*time.Duration(o.Streams.Taken()))
	return max(gap-time.Since(o.rendered), o.live.pause/10)
}

// sendUpdate sends the parts that the browser does not have. It reports whether the stream goes on.
func (o *openPage) sendUpdate(ctx context.Context) bool {
	who := o.Auth.Now(ctx, o.session)
	if o.out.Begun && o.hasOtherRights(who) {
		return o.finishWith("reload")
	}
	parts, ended, err := o.renderNow(ctx, who)
	switch kind := app.KindOf(err); {
	case err != nil && !o.out.Begun:
		o.showError(o.w, o.r, who, err)
		return false
	case kind == app.Denied || kind == app.NotFound:
		return o.finishWith("reload")
	case err != nil:
		if ctx.Err() == nil {
			o.Log.WarnContext(ctx, "open page not brought up to date", "page", o.r.Pattern, "err", err)
		}
		return false // the browser asks again
	}
	if !o.out.Begun && o.out.Begin() != nil {
		return false
	}
	if !o.sendParts(parts) {
		return false
	}
	if ended {
		return o.finishWith("end")
	}
	return true
}

// renderNow renders the page's parts as somebody may see them now, when it is its turn.
func (o *openPage) renderNow(ctx context.Context, who policy.Principal) (parts []part, ended bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, o.Timeout)
	defer cancel()
	select {
	case o.renders <- struct{}{}:
	case <-ctx.Done():
		return nil, false, ctx.Err()
	}
	defer func() { <-o.renders }()
	o.rendered = time.Now()
	r := o.r.WithContext(ctx)
	c, err := o.read(r, who)
	if err != nil {
		return nil, false, err
	}
	_, parts, err = o.renderParts(c.name, o.newFrame(r, who, c))
	return parts, c.ended, err
}

// sendParts sends the parts that the browser does not have, as pairs of id and HTML.
func (o *openPage) sendParts(parts []part) bool {
	missing, has := missingParts(parts, o.has), hashesOf(parts)
	if len(missing) == 0 && has == o.has {
		return true
	}
	pairs := make([][2]string, len(missing))
	for i, p := range missing {
		pairs[i] = [2]string{p.id, p.html}
	}
	var data bytes.Buffer
	encoder := json.NewEncoder(&data)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(pairs); err != nil {
		return false // texts can always be encoded
	}
	o.has = has
	return o.out.Send("parts", has, bytes.TrimSpace(data.Bytes())) == nil
}

// sendBeat shows that the stream is alive, and ends it for somebody who signed out or whose roles changed.
func (o *openPage) sendBeat(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, o.Timeout)
	defer cancel()
	ended, err := o.sessions.hasEnded(ctx, o.session.ID)
	switch {
	case err != nil:
		return false // the browser asks again, and is told why not
	case ended || o.hasOtherRights(o.Auth.Seated(o.session)):
		return o.finishWith("reload")
	}
	return o.out.Beat() == nil
}

// hasOtherRights reports whether somebody's roles are others than when the stream began; what is around the page depends on them too.
func (o *openPage) hasOtherRights(who policy.Principal) bool {
	began := o.session.Principal
	return who.ID != began.ID || !reflect.DeepEqual(who.Seats, began.Seats)
}

// finishWith sends the last event: "end" says that nothing changes any more, "reload" that the page has to be asked for.
func (o *openPage) finishWith(event string) bool {
	_ = o.out.Send(event, "", []byte("{}")) // the browser disconnected
	return false
}

// addJitter returns between four and six fifths of d, so that what began together does not end together.
func addJitter(d time.Duration) time.Duration { return d*4/5 + rand.N(d*2/5+1) }
