package hooks

import (
	"bytes"
	"cmp"
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

// The limits of the public listener. A sender is unknown until the whole body was read and its signature verified. Until then senders
// are told apart only by address, and the resources that one can take from others are limited.
const (
	MaxGitHubBody = 25 << 20 // GitHub caps payloads at 25 MB: docs.github.com, "Webhook events and payloads"
	MaxSlackBody  = 1 << 20

	// bodyTime is the time limit for receiving a body. GitHub gives up after ten seconds, Slack after three.
	bodyTime = 10 * time.Second
	// answerTime is how long a signed request waits for PostgreSQL before it is refused with a retry.
	answerTime = 9 * time.Second

	// The memory for bodies being received: 512 × 256 KiB and 8 × 25 MB at most. Large bodies, which are rare, cannot take the places
	// of small ones. Among the small bodies of one address, the slowest makes room for the newest.
	smallBody       = 256 << 10
	readingAtOnce   = 512
	readingOfSource = 128
	largeAtOnce     = 8
	largeOfSource   = 2

	// Signed requests that are stored concurrently.
	storingAtOnce   = 256
	storingOfSource = 64

	// How many unsigned requests an address may send: at once, and per second. A large body counts as all of them.
	failuresAtOnce    = 30
	failuresPerSecond = 1
	mostSources       = 10_000 // addresses whose failures are counted
)

// guard ensures that signed requests are stored, whatever others send.
type guard struct {
	proxies  source.Networks
	reading  *places
	large    *limit.Slots
	storing  *limit.Slots
	failures *limit.Buckets
	log      *slog.Logger
	hidden   sync.Once // for the warning that senders may be hidden behind a proxy
}

func newGuard(proxies source.Networks, now func() time.Time, log *slog.Logger) *guard {
	return &guard{
		proxies: proxies, log: log, reading: newPlaces(readingAtOnce), large: limit.NewSlots(largeAtOnce, largeOfSource),
		storing: limit.NewSlots(storingAtOnce, storingOfSource), failures: limit.NewBuckets(failuresPerSecond, failuresAtOnce, mostSources, now),
	}
}

// entrance is one endpoint of the listener.
type entrance struct {
	size    int64                                 // maximum size of a body
	admits  func(netip.Addr) bool                 // nil: every address
	formed  func(http.Header) bool                // whether the headers contain something like a signature
	signed  func(h http.Header, body []byte) bool // whether the signature is valid for the body
	refusal string                                // what is wrong if it is not, and what to do
	take    func(http.ResponseWriter, *http.Request, []byte)
	within  time.Duration                                    // how long a signed request waits to be stored; 0: answerTime
	busy    func(http.ResponseWriter, *http.Request, []byte) // answers one that waited longer; nil: notStored
}

// handler checks in this order: address, form of the signature, body, signature. Only then does a request use anything that another
// signed one may need.
func (g *guard) handler(e entrance) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		connection := http.NewResponseController(w)
		if err := connection.SetReadDeadline(time.Now().Add(bodyTime)); err != nil { // cannot happen on a connection of the server's
			g.log.ErrorContext(r.Context(), "a body's time cannot be bounded", "err", err)
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
		g.store(w, r, from, e, body.raw)
	})
}

// store passes a signed request on to be stored.
func (g *guard) store(w http.ResponseWriter, r *http.Request, from string, e entrance, body []byte) {
	ctx, cancel := context.WithTimeout(r.Context(), cmp.Or(e.within, answerTime))
	defer cancel()
	free, err := g.storing.Take(ctx, from)
	if err != nil {
		g.log.ErrorContext(r.Context(), "delivery not stored: those before it wait for PostgreSQL", "from", from, "err", err)
		if e.busy != nil {
			e.busy(w, r, body)
			return
		}
		notStored(w)
		return
	}
	defer free()
	e.take(w, r.WithContext(ctx), body)
}

// warnOfProxy warns once that all senders may be counted as one.
func (g *guard) warnOfProxy(r *http.Request) {
	if len(g.proxies) == 0 && len(r.Header.Values(source.ForwardedFor)) > 0 {
		g.hidden.Do(func() {
			g.log.WarnContext(r.Context(), "a request names a proxy; if webhooks come through one, set listen.trusted_proxies, or all senders are counted as one",
				"peer", r.RemoteAddr)
		})
	}
}

// Why a body was not read.
var (
	errDisplaced    = errors.New("too many bodies at once")
	errLate         = errors.New("the body did not arrive in time")
	errTooManyLarge = errors.New("too many large bodies at once")
	errUnsigned     = errors.New("too many requests of this address were not signed")
)

// received is a body, or the part of it that arrived.
type received struct {
	raw  []byte
	cost int    // charged to its address if it turns out to be unsigned
	done func() // gives its place back
}

// read reads the whole body, at most size bytes, until the connection's deadline; a body with a larger Content-Length is refused
// unread. No memory is allocated because of that header alone: a large body first needs a place among the large ones, and an address
// that sends unsigned requests gets none.
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
	// The deadline was the body's: after it, the server would treat the sender as gone while the response is made.
	return body, connection.SetReadDeadline(time.Time{})
}

// small reads up to the size of a small body. whole: that was all.
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
		return func() {}, errTooManyLarge
	}
	into.Grow(int(max(length-int64(into.Len()), 0)) + bytes.MinRead)
	_, err = io.Copy(into, in)
	return done, late(err)
}

// late distinguishes a sender that is too slow from one that disconnected.
func late(err error) error {
	var timeout interface{ Timeout() bool }
	if errors.As(err, &timeout) && timeout.Timeout() {
		return errLate
	}
	return err
}

// unread answers a request whose body was not read completely. An incomplete body counts as unsigned.
func (g *guard) unread(w http.ResponseWriter, from string, cost int, size int64, err error) {
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		refuse(w, http.StatusRequestEntityTooLarge, "The body is too large. The limit is "+strconv.FormatInt(size, 10)+" bytes.")
	case errors.Is(err, errTooManyLarge):
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

// unsigned answers a request without a valid signature, and charges it to its address.
func (g *guard) unsigned(w http.ResponseWriter, from string, cost int, detail string) {
	wait := g.failures.Wait(from)
	g.failures.Charge(from, cost)
	if wait > 0 {
		tooMany(w, wait, detail+" Many requests from this address are not signed.")
		return
	}
	refuse(w, http.StatusUnauthorized, detail)
}

// refuse answers an unknown sender and closes the connection.
func refuse(w http.ResponseWriter, status int, detail string) {
	w.Header().Set("Connection", "close")
	writeProblem(w, status, detail)
}

func tooMany(w http.ResponseWriter, wait time.Duration, detail string) {
	w.Header().Set("Retry-After", strconv.Itoa(max(1, int(math.Ceil(wait.Seconds())))))
	refuse(w, http.StatusTooManyRequests, detail)
}
