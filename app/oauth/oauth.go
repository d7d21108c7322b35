// Package oauth is what the server's OAuth 2.0 endpoints have in common: they read the forms of programs that are not signed in yet, limit how
// many ask at once, and answer as RFC 6749 says. It decides nothing.
package oauth

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"regexp"
	"time"

	"github.com/ocpctl/ocpctl/internal/limit"
	"github.com/ocpctl/ocpctl/internal/source"
)

const (
	mostForm = 16 << 10 // of a program

	mostAtOnce, mostOfAddress = 16, 4 // questions of programs at the same time, in all and from one address
)

// Refusal is an error of RFC 6749, 5.2, with a text for people.
type Refusal struct {
	Code string `json:"error"`
	Text string `json:"error_description"`
}

func (r *Refusal) Error() string { return r.Text }

// InvalidClient is the code of a client that did not prove who it is.
const InvalidClient = "invalid_client"

// Door answers programs. Safe for concurrent use.
type Door struct {
	Proxies source.Networks // proxies whose information about the client is trusted
	Log     *slog.Logger
	atOnce  *limit.Slots
}

// NewDoor returns a door.
func NewDoor(proxies source.Networks, log *slog.Logger) *Door {
	return &Door{proxies, log, limit.NewSlots(mostAtOnce, mostOfAddress)}
}

// Answer reads a program's form and writes what do returns, or its *Refusal.
func (d *Door) Answer(w http.ResponseWriter, r *http.Request, do func(context.Context) (any, error)) {
	ctx, cancel := context.WithTimeout(r.Context(), 30*time.Second)
	defer cancel()
	free, err := d.atOnce.Take(ctx, source.Group(d.Proxies.Address(r))) // nobody is signed in yet, and each question is one to the database
	if err != nil {
		WriteJSON(w, http.StatusServiceUnavailable, &Refusal{"temporarily_unavailable", "Too many programs sign in at once. Try again in a moment."})
		return
	}
	defer free()
	r.Body = http.MaxBytesReader(w, r.Body, mostForm)
	if err := r.ParseForm(); err != nil {
		WriteJSON(w, http.StatusBadRequest, &Refusal{"invalid_request", "The form cannot be read."})
		return
	}
	out, err := do(ctx)
	var refused *Refusal
	switch {
	case errors.As(err, &refused):
		status := http.StatusBadRequest
		if _, _, basic := r.BasicAuth(); basic && refused.Code == InvalidClient {
			w.Header().Set("WWW-Authenticate", `Basic realm="ocpctl"`)
			status = http.StatusUnauthorized
		}
		WriteJSON(w, status, refused)
	case err != nil:
		d.Log.ErrorContext(ctx, "a sign-in failed", "path", r.URL.Path, "err", err)
		WriteJSON(w, http.StatusServiceUnavailable, &Refusal{"temporarily_unavailable", "An internal error occurred and was logged. Try again in a moment."})
	default:
		WriteJSON(w, http.StatusOK, out)
	}
}

// WriteJSON writes a document that nobody may store.
func WriteJSON(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // the caller disconnected
}

var challengeForm = regexp.MustCompile(`^[A-Za-z0-9_-]{43}$`)

// IsChallenge reports whether a text has the form of a challenge with the method S256 (RFC 7636, 4.2).
func IsChallenge(text string) bool { return challengeForm.MatchString(text) }

// MatchesChallenge checks a verifier of RFC 7636, 4.6.
func MatchesChallenge(challenge, verifier string) bool {
	sum := sha256.Sum256([]byte(verifier))
	return subtle.ConstantTimeCompare([]byte(base64.RawURLEncoding.EncodeToString(sum[:])), []byte(challenge)) == 1
}
