package hooks

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"math"
	"net/http"
	"net/netip"
	"strconv"
	"sync"
	"time"

	"github.com/ocpctl/ocpctl/internal/limit"
	"github.com/ocpctl/ocpctl/internal/source"
)

// The bounds of the public listener. Nobody is known before a whole body was read and its signature checked, so until then
// senders are told apart by their address alone, and what they can take from each other is bounded.
const (
	MaxGitHubBody = 25 << 20 // GitHub caps payloads at 25 MB: docs.github.com, "Webhook events and payloads"
	MaxSlackBody  = 1 << 20

	// bodyTime is how long a body may take to arrive. GitHub gives up after ten seconds, Slack after three.
	bodyTime = 10 * time.Second
	// answerTime is how long a signed request waits for PostgreSQL before it is told to come again.
	answerTime = 9 * time.Second

	// What bodies take in memory while they arrive: 512 × 256 KiB and 8 × 25 MB at most. The large ones, which are rare, cannot take
	// the places of the small. Of one address's small bodies the slowest makes room for the newest.
	smallBody       = 256 << 10
	readingAtOnce   = 512
	readingOfSource = 128
	largeAtOnce     = 8
	largeOfSource   = 2

	// Signed requests that are stored at once.
	storingAtOnce   = 256
	storingOfSource = 64

	// What an address may send that is not signed: failures at once, and a second. A large body counts as all of them.
	failuresAtOnce    = 30
	failuresPerSecond = 1
	mostSources       = 10_000 // addresses whose failures are remembered
)

// guard lets signed requests through to what stores them, whatever others send.
type guard struct {
	proxies  source.Networks
	reading  *places
	large    *limit.Slots
	storing  *limit.Slots
	failures *limit.Buckets
	log      *slog.Logger
	hidden   sync.Once // told that senders may be hidden behind a proxy
}

func newGuard(proxies source.Networks, now func() time.Time, log *slog.Logger) *guard {
	return &guard{
		proxies: proxies, log: log, reading: newPlaces(readingAtOnce), large: limit.NewSlots(largeAtOnce, largeOfSource),
		storing: limit.NewSlots(storingAtOnce, storingOfSource), failures: limit.NewBuckets(failuresPerSecond, failuresAtOnce, mostSources, now),
	}
}

// entrance is one path of the listener.
type entrance struct {
	size    int64                                 // of a body at most
	admits  func(netip.Addr) bool                 // nil: every address
	formed  func(http.Header) bool                // whether there is something that could be a signature
	signed  func(h http.Header, body []byte) bool // whether it is the body's
	refusal string                                // what is wrong where it is not, and what to do
	take    func(http.ResponseWriter, *http.Request, []byte)
}

// handler is the order in which everything is looked at: address, form of the signature, body, signature; only then does the
// request take anything that another signed one may need.
func (g *guard) handler(e entrance) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		connection := http.NewResponseController(w)
		if err := connection.SetReadDeadline(time.Now().Add(bodyTime)); err != nil { // never, on a connection of its own
			g.log.Error("a body's time cannot be bounded", "err", err)
			refuse(w, http.StatusInternalServerError, "The request is not readable. Send it again.")
			return
		}
		g.warnOfProxy(r)
		address := g.proxies.Address(r)
		from := source.Group(address)
		switch {
		case e.admits != nil && !e.admits(address):
			refuse(w, http.StatusForbidden, "Webhooks from this address are not accepted. See github.hook_addresses in the server's configuration.")
			return
		case !e.formed(r.Header):
			g.unsigned(w, from, 1, e.refusal)
			return
		}
		body, err := g.read(w, r, from, e.size)
		defer body.done()
		switch {
		case err != nil:
			g.unread(w, from, body.cost, e.size, err)
			return
		case !e.signed(r.Header, body.raw):
			g.unsigned(w, from, body.cost, e.refusal)
			return
		}
		g.store(w, r, from, func(r *http.Request) { e.take(w, r, body.raw) })
	})
}

// store takes a signed request to where it is stored.
func (g *guard) store(w http.ResponseWriter, r *http.Request, from string, take func(*http.Request)) {
	ctx, cancel := context.WithTimeout(r.Context(), answerTime)
	defer cancel()
	free, err := g.storing.Take(ctx, from)
	if err != nil {
		g.log.Error("delivery not stored: those before it wait for PostgreSQL", "from", from, "err", err)
		notStored(w)
		return
	}
	defer free()
	take(r.WithContext(ctx))
}

// warnOfProxy tells once that all senders may be counted as one.
func (g *guard) warnOfProxy(r *http.Request) {
	if len(g.proxies) == 0 && len(r.Header.Values(source.ForwardedFor)) > 0 {
		g.hidden.Do(func() {
			g.log.Warn("a request names a proxy; if webhooks come through one, set listen.trusted_proxies, or all senders are counted as one",
				"peer", r.RemoteAddr)
		})
	}
}

// Why a body was not read.
var (
	errDisplaced = errors.New("too many bodies at once")
	errLate      = errors.New("the body did not arrive in time")
	errNoRoom    = errors.New("too many large bodies at once")
	errUnsigned  = errors.New("too many requests of this address were not signed")
)

// received is a body, or what arrived of it.
type received struct {
	raw  []byte
	cost int    // to its address, if it turns out not to be signed
	done func() // gives its place back
}

// read takes the whole body, at most size bytes, until the connection's deadline; a body that says it is larger is refused unread.
// No memory is taken on a sender's word alone: a large body needs a place among the large ones first, and an address that sends
// what is not signed gets none.
func (g *guard) read(w http.ResponseWriter, r *http.Request, from string, size int64) (body received, err error) {
	body = received{cost: 1, done: func() {}}
	if r.ContentLength > size {
		return body, &http.MaxBytesError{Limit: size}
	}
	connection := http.NewResponseController(w)
	var buf bytes.Buffer
	in := http.MaxBytesReader(w, r.Body, size)
	whole := false
	if r.ContentLength <= smallBody {
		if whole, err = g.small(&buf, in, connection, from); err != nil {
			return body, err
		}
	}
	if !whole {
		body.cost = failuresAtOnce
		if body.done, err = g.rest(&buf, in, r.ContentLength, from); err != nil {
			return body, err
		}
	}
	body.raw = buf.Bytes()
	// The deadline was the body's: past it, the server would take the sender for gone while the answer is made.
	return body, connection.SetReadDeadline(time.Time{})
}

// small reads up to a small body's size. whole: that was all.
func (g *guard) small(into *bytes.Buffer, in io.Reader, connection *http.ResponseController, from string) (whole bool, err error) {
	its, ok := g.reading.take(from, readingOfSource, func() { _ = connection.SetReadDeadline(time.Unix(1, 0)) }) // which wakes the reader
	if !ok {
		return false, errDisplaced
	}
	_, err = io.CopyN(into, in, smallBody+1)
	displaced := g.reading.free(its)
	switch {
	case errors.Is(err, io.EOF):
		return true, nil
	case err != nil && displaced:
		return false, errDisplaced
	}
	return false, late(err)
}

// rest reads a large body to its end.
func (g *guard) rest(into *bytes.Buffer, in io.Reader, length int64, from string) (done func(), err error) {
	if g.failures.Wait(from) > 0 {
		return func() {}, errUnsigned
	}
	done, ok := g.large.Try(from)
	if !ok {
		return func() {}, errNoRoom
	}
	into.Grow(int(max(length-int64(into.Len()), 0)) + bytes.MinRead)
	_, err = io.Copy(into, in)
	return done, late(err)
}

// late tells a sender that is too slow from one that went away.
func late(err error) error {
	var timeout interface{ Timeout() bool }
	if errors.As(err, &timeout) && timeout.Timeout() {
		return errLate
	}
	return err
}

// unread answers a request whose body was not read. What did not arrive was not signed.
func (g *guard) unread(w http.ResponseWriter, from string, cost int, size int64, err error) {
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		refuse(w, http.StatusRequestEntityTooLarge, "The body is too large. The limit is "+strconv.FormatInt(size, 10)+" bytes.")
	case errors.Is(err, errNoRoom):
		tooMany(w, time.Second, "Too many large requests at once. Send this one again in a second.")
	case errors.Is(err, errUnsigned):
		tooMany(w, g.failures.Wait(from), "Too many unsigned requests from this address. Sign all requests and send large ones again.")
	case errors.Is(err, errDisplaced):
		g.failures.Charge(from, cost)
		tooMany(w, time.Second, "Too many requests at once; this was the slowest. Send it again in a second.")
	case errors.Is(err, errLate):
		g.failures.Charge(from, cost)
		refuse(w, http.StatusRequestTimeout, "The body did not arrive within "+bodyTime.String()+". Send it again.")
	default:
		g.failures.Charge(from, cost)
		refuse(w, http.StatusBadRequest, "The body is incomplete. Send it again.")
	}
}

// unsigned answers a request without a good signature, and charges it to its address.
func (g *guard) unsigned(w http.ResponseWriter, from string, cost int, detail string) {
	wait := g.failures.Wait(from)
	g.failures.Charge(from, cost)
	if wait > 0 {
		tooMany(w, wait, detail+" Many requests from this address are not signed.")
		return
	}
	refuse(w, http.StatusUnauthorized, detail)
}

// refuse answers what came from nobody we know, and has it connect anew.
func refuse(w http.ResponseWriter, status int, detail string) {
	w.Header().Set("Connection", "close")
	problem(w, status, detail)
}

func tooMany(w http.ResponseWriter, wait time.Duration, detail string) {
	w.Header().Set("Retry-After", strconv.Itoa(max(1, int(math.Ceil(wait.Seconds())))))
	refuse(w, http.StatusTooManyRequests, detail)
}
