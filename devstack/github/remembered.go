package github

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"net/http"
	"strings"
)

// remembered adds an ETag to the response of a GET, and returns 304 to callers who have that one.
// https://docs.github.com/rest/using-the-rest-api/best-practices-for-using-the-rest-api#use-conditional-requests-if-appropriate
func remembered(w http.ResponseWriter, r *http.Request, fn func(http.ResponseWriter)) {
	if r.Method != http.MethodGet {
		fn(w)
		return
	}
	kept := &keeper{ResponseWriter: w, status: http.StatusOK}
	fn(kept)
	if kept.status == http.StatusOK {
		tag := fmt.Sprintf(`W/"%x"`, sha256.Sum256(kept.body.Bytes()))
		w.Header().Set("ETag", tag)
		w.Header().Set("Cache-Control", "private, max-age=60, s-maxage=60")
		if sameTag(r.Header.Get("If-None-Match"), tag) {
			w.Header().Del("Content-Type")
			w.WriteHeader(http.StatusNotModified)
			return
		}
	}
	w.WriteHeader(kept.status)
	_, _ = w.Write(kept.body.Bytes()) // the caller disconnected
}

// sameTag compares weakly, as RFC 9110 requires for If-None-Match.
func sameTag(asked, tag string) bool {
	for one := range strings.SplitSeq(asked, ",") {
		if strings.TrimPrefix(strings.TrimSpace(one), "W/") == strings.TrimPrefix(tag, "W/") {
			return true
		}
	}
	return false
}

// keeper buffers a response.
type keeper struct {
	http.ResponseWriter
	status int
	body   bytes.Buffer
}

func (k *keeper) WriteHeader(status int)      { k.status = status }
func (k *keeper) Write(b []byte) (int, error) { return k.body.Write(b) }
