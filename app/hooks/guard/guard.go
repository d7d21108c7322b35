package guard

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"math"
	"net/http"
	"net/netip"
	"strconv"
	"sync"
	"time"

	"github.com/ocpctl/ocpctl/internal/duration"
	"github.com/ocpctl/ocpctl/internal/limit"
	"github.com/ocpctl/ocpctl/internal/source"
)

// The limits of the public listener.
const (
	// BodyTime is the time limit for receiving a body. GitHub gives up after ten seconds, Slack after three.
	BodyTime = 10 * time.Second
	// answerTime is how long a signed request waits for PostgreSQL before it is refused with a retry.
	answerTime = 9 * time.Second

	SmallBody     = 256 << 10 // bytes; larger bodies, which are rare, cannot take the places of small ones
	SmallAtOnce   = 512
	SmallOfSource = 128
	LargeAtOnce   = 8
	LargeOfSource = 2

	// Signed requests that are stored concurrently.
	storingAtOnce   = 256
	storingOfSource = 64

	// FailuresAtOnce and failuresPerSecond are how many unsigned requests an address may send. A large body counts as all of them.
	FailuresAtOnce    = 30
	failuresPerSecond = 1
	mostSources       = 10_000 // addresses whose failures are counted
)

// Guard ensures that signed requests are handled, whatever others send. Safe for concurrent use.
type Guard struct {
	proxies  source.Networks
	small    *bodies
	large    *limit.Slots
	storing  *limit.Slots
	failures *limit.Buckets
	log      *slog.Logger
	hidden   sync.Once // for the warning that senders may be hidden behind a proxy
}

// New returns a Guard that has seen nobody. proxies are trusted to name the source of a request; now may be nil.
func New(proxies source.Networks, now func() time.Time, log *slog.Logger) *Guard {
	return &Guard{
		proxies: proxies, log: log, small: &bodies{}, large: limit.NewSlots(LargeAtOnce, LargeOfSource),
		storing: limit.NewSlots(storingAtOnce, storingOfSource), failures: limit.NewBuckets(failuresPerSecond, FailuresAtOnce, mostSources, now),
	}
}

// Entrance is one endpoint of the listener.
type Entrance struct {
	MaxBody  int64                                 // bytes
	Admits   func(netip.Addr) bool                 // nil: every address
	IsFormed func(http.Header) bool                // whether the headers contain something like a signature
	IsSigned func(h http.Header, body []byte) bool // whether the signature is valid for the body
	Refusal  string                                // what is wrong if it is not, and what to do
	Take     func(http.ResponseWriter, *http.Request, []byte)
	Within   time.Duration                                    // how long a signed request waits to be stored; 0: nine seconds
	Busy     func(http.ResponseWriter, *http.Request, []byte) // answers one that waited longer; nil: NotStored
}

// Handler checks in this order: address, form of the signature, body, signature. Only then does a request use anything that another
// signed one may need.
func (g *Guard) Handler(e Entrance) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		connection := http.NewResponseController(w)
		if err := connection.SetReadDeadline(time.Now().Add(BodyTime)); err != nil { // cannot happen on a connection of the server's
			g.log.ErrorContext(r.Context(), "a body's time cannot be bounded", "err", err)
			refuseRequest(w, http.StatusInternalServerError, "The request is not readable. Send it again.")
			return
		}
		g.warnOfProxy(r)
		address := g.proxies.Address(r)
		from := source.Group(address)
		switch {
		case e.Admits != nil && !e.Admits(address):
			refuseRequest(w, http.StatusForbidden, "Webhooks from this address are not accepted. See github.hook_addresses in the server's configuration.")
			return
		case !e.IsFormed(r.Header):
			g.refuseUnsigned(w, from, 1, e.Refusal)
			return
		}
		body, err := g.readBody(w, r, from, e.MaxBody)
		defer body.done()
		switch {
		case err != nil:
			g.refuseUnread(w, from, body.cost, e.MaxBody, err)
			return
		case !e.IsSigned(r.Header, body.raw):
			g.refuseUnsigned(w, from, body.cost, e.Refusal)
			return
		}
		g.storeRequest(w, r, from, e, body.raw)
	})
}

// storeRequest passes a signed request on to be stored.
func (g *Guard) storeRequest(w http.ResponseWriter, r *http.Request, from string, e Entrance, body []byte) {
	ctx, cancel := context.WithTimeout(r.Context(), cmp.Or(e.Within, answerTime))
	defer cancel()
	free, err := g.storing.Take(ctx, from)
	if err != nil {
		g.log.ErrorContext(r.Context(), "delivery not stored: those before it wait for PostgreSQL", "from", from, "err", err)
		if e.Busy != nil {
			e.Busy(w, r, body)
			return
		}
		NotStored(w)
		return
	}
	defer free()
	e.Take(w, r.WithContext(ctx), body)
}

// warnOfProxy warns once that all senders may be counted as one.
func (g *Guard) warnOfProxy(r *http.Request) {
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

// readBody reads the whole body, at most size bytes, until the connection's deadline; a body with a larger Content-Length is refused
// unread. No memory is allocated because of that header alone: a large body first needs a place among the large ones, and an address
// that sends unsigned requests gets none.
func (g *Guard) readBody(w http.ResponseWriter, r *http.Request, from string, size int64) (body received, err error) {
	body = received{cost: 1, done: func() {}}
	if r.ContentLength > size {
		return body, &http.MaxBytesError{Limit: size}
	}
	connection := http.NewResponseController(w)
	var buf bytes.Buffer
	in := http.MaxBytesReader(w, r.Body, size)
	whole := false
	if r.ContentLength <= SmallBody {
		if whole, err = g.readSmall(&buf, in, connection, from); err != nil {
			return body, err
		}
	}
	if !whole {
		body.cost = FailuresAtOnce
		if body.done, err = g.readRest(&buf, in, r.ContentLength, from); err != nil {
			return body, err
		}
	}
	body.raw = buf.Bytes()
	// The deadline was the body's: after it, the server would treat the sender as gone while the response is made.
	return body, connection.SetReadDeadline(time.Time{})
}

// readSmall reads up to the size of a small body. whole: that was all.
func (g *Guard) readSmall(into *bytes.Buffer, in io.Reader, connection *http.ResponseController, from string) (whole bool, err error) {
	its := g.small.addBody(from, func() { _ = connection.SetReadDeadline(time.Unix(1, 0)) }) // which wakes the reader
	_, err = io.CopyN(into, in, SmallBody+1)
	displaced := g.small.removeBody(its)
	switch {
	case errors.Is(err, io.EOF):
		return true, nil
	case err != nil && displaced:
		return false, errDisplaced
	}
	return false, toSlowness(err)
}

// readRest reads a large body to its end.
func (g *Guard) readRest(into *bytes.Buffer, in io.Reader, length int64, from string) (done func(), err error) {
	if g.failures.Wait(from) > 0 {
		return func() {}, errUnsigned
	}
	done, ok := g.large.Try(from)
	if !ok {
		return func() {}, errTooManyLarge
	}
	into.Grow(int(max(length-int64(into.Len()), 0)) + bytes.MinRead)
	_, err = io.Copy(into, in)
	return done, toSlowness(err)
}

// toSlowness distinguishes a sender that is too slow from one that disconnected.
func toSlowness(err error) error {
	var timeout interface{ Timeout() bool }
	if errors.As(err, &timeout) && timeout.Timeout() {
		return errLate
	}
	return err
}

// refuseUnread answers a request whose body was not read completely. An incomplete body counts as unsigned.
func (g *Guard) refuseUnread(w http.ResponseWriter, from string, cost int, size int64, err error) {
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		refuseRequest(w, http.StatusRequestEntityTooLarge, "The body is too large. The limit is "+strconv.FormatInt(size, 10)+" bytes.")
	case errors.Is(err, errTooManyLarge):
		refuseForNow(w, time.Second, "Too many large requests at once. Send this one again in a second.")
	case errors.Is(err, errUnsigned):
		refuseForNow(w, g.failures.Wait(from), "Too many unsigned requests from this address. Sign all requests and send large ones again.")
	case errors.Is(err, errDisplaced):
		g.failures.Charge(from, cost)
		refuseForNow(w, time.Second, "Too many requests at once; this was the slowest. Send it again in a second.")
	case errors.Is(err, errLate):
		g.failures.Charge(from, cost)
		refuseRequest(w, http.StatusRequestTimeout, "The body did not arrive within "+duration.Format(BodyTime)+". Send it again.")
	default:
		g.failures.Charge(from, cost)
		refuseRequest(w, http.StatusBadRequest, "The body is incomplete. Send it again.")
	}
}

// refuseUnsigned answers a request without a valid signature, and charges it to its address.
func (g *Guard) refuseUnsigned(w http.ResponseWriter, from string, cost int, detail string) {
	wait := g.failures.Wait(from)
	g.failures.Charge(from, cost)
	if wait > 0 {
		refuseForNow(w, wait, detail+" Many requests from this address are not signed.")
		return
	}
	refuseRequest(w, http.StatusUnauthorized, detail)
}

// refuseRequest answers an unknown sender and closes the connection.
func refuseRequest(w http.ResponseWriter, status int, detail string) {
	w.Header().Set("Connection", "close")
	WriteProblem(w, status, detail)
}

func refuseForNow(w http.ResponseWriter, wait time.Duration, detail string) {
	w.Header().Set("Retry-After", strconv.Itoa(max(1, int(math.Ceil(wait.Seconds())))))
	refuseRequest(w, http.StatusTooManyRequests, detail)
}

// NotStored answers a request that could not be stored, so that its sender repeats it.
func NotStored(w http.ResponseWriter) {
	w.Header().Set("Retry-After", "10")
	WriteProblem(w, http.StatusServiceUnavailable, "The delivery could not be stored. Send it again.")
}

// WriteProblem answers with an RFC 9457 document; detail says what to do next.
func WriteProblem(w http.ResponseWriter, status int, detail string) {
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{ // the sender may have disconnected
		"type": "about:blank", "title": http.StatusText(status), "status": status, "detail": detail,
	})
}
