// Package httpbody sends the bodies of responses in few bytes: compressed for readers that accept it, and not at all to those that have
// them already. It must never compress a secret beside text that somebody else chose.
package httpbody

import (
	"compress/gzip"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"
	"sync"
)

// least is the size from which a body is compressed: a smaller one fits into one packet.
const least = 1000

// packable are the media types that are compressed.
var packable = []string{"text/html", "text/css", "text/javascript", "text/plain", "text/csv", "image/svg+xml", "application/json", "application/problem+json"}

// AcceptsGzip reports whether a reader accepts gzip.
func AcceptsGzip(r *http.Request) bool {
	for coding := range strings.SplitSeq(r.Header.Get("Accept-Encoding"), ",") {
		name, quality, _ := strings.Cut(strings.ReplaceAll(coding, " ", ""), ";")
		if strings.EqualFold(name, "gzip") || name == "*" {
			return strings.Trim(strings.TrimPrefix(strings.ToLower(quality), "q="), "0.") != "" || quality == ""
		}
	}
	return false
}

// Compress compresses what next answers to GET, except where holdsSecret reports a response with a secret. The length of a compressed
// body tells how well its parts resemble each other (the attack BREACH), so a secret must not stand beside text of somebody else. A
// response to any other method is never compressed: kubeconfigs, passwords, one-time links and tokens are answers to POST. Our pages
// hold no token against forged forms, which would be such a secret: browsers say from where a form comes.
func Compress(next http.Handler, holdsSecret func(*http.Request) bool) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet || holdsSecret(r) {
			next.ServeHTTP(w, r)
			return
		}
		out := &writer{ResponseWriter: w, accepted: AcceptsGzip(r), code: http.StatusOK}
		next.ServeHTTP(out, r)
		out.finishBody() // not after a panic, which breaks the connection: an incomplete body must not look complete
	})
}

// writer decides at the first part of a body whether to compress it.
type writer struct {
	http.ResponseWriter
	accepted, decided bool
	code              int
	zip               *gzip.Writer // nil: the body is sent as it is
}

var zips = sync.Pool{New: func() any { return gzip.NewWriter(io.Discard) }}

// WriteHeader implements http.ResponseWriter. The headers are sent with the first part of the body.
func (w *writer) WriteHeader(code int) {
	if code < http.StatusOK {
		w.ResponseWriter.WriteHeader(code)
		return
	}
	w.code = code
}

// Write implements http.ResponseWriter.
func (w *writer) Write(part []byte) (int, error) {
	w.decideCoding(len(part))
	if w.zip != nil {
		n, err := w.zip.Write(part)
		if err != nil {
			return n, fmt.Errorf("compress: %w", err)
		}
		return n, nil
	}
	return w.ResponseWriter.Write(part)
}

func (w *writer) decideCoding(size int) {
	if w.decided {
		return
	}
	w.decided = true
	h := w.Header()
	media, _, _ := mime.ParseMediaType(h.Get("Content-Type"))
	if slices.Contains(packable, media) && h.Get("Content-Encoding") == "" {
		h.Add("Vary", "Accept-Encoding")
		if w.accepted && size >= least {
			h.Set("Content-Encoding", "gzip")
			h.Del("Content-Length")
			w.zip, _ = zips.Get().(*gzip.Writer)
			w.zip.Reset(w.ResponseWriter)
		}
	}
	w.ResponseWriter.WriteHeader(w.code)
}

// FlushError implements what http.ResponseController calls.
func (w *writer) FlushError() error {
	w.decideCoding(0)
	if w.zip != nil {
		if err := w.zip.Flush(); err != nil {
			return fmt.Errorf("compress: %w", err)
		}
	}
	return http.NewResponseController(w.ResponseWriter).Flush()
}

// Unwrap lets http.ResponseController reach the connection.
func (w *writer) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *writer) finishBody() {
	w.decideCoding(0)
	if w.zip != nil {
		_ = w.zip.Close() // the reader disconnected
		w.zip.Reset(io.Discard)
		zips.Put(w.zip)
	}
}
