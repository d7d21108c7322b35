package github

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"net/http"
	"strings"
)

// remembered gives what a GET answers an ETag, and answers 304 to who has it already.
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
	_, _ = w.Write(kept.body.Bytes()) // the caller went away; nobody to tell
}

// sameTag compares weakly, as RFC 9110 wants it for If-None-Match.
func sameTag(asked, tag string) bool {
	for one := range strings.SplitSeq(asked, ",") {
		if strings.TrimPrefix(strings.TrimSpace(one), "W/") == strings.TrimPrefix(tag, "W/") {
			return true
		}
	}
	return false
}

// keeper holds an answer back.
type keeper struct {
	http.ResponseWriter
	status int
	body   bytes.Buffer
}

func (k *keeper) WriteHeader(status int)      { k.status = status }
func (k *keeper) Write(b []byte) (int, error) { return k.body.Write(b) }
