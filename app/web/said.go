package web

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
	"unicode/utf8"
)

// said is the answer to a form, shown once on the page it led to. It never holds a secret: it travels in a cookie.
type said struct {
	Words string `json:"w"`
	Bad   bool   `json:"b,omitempty"` // nothing was done
}

const (
	saidCookie = "ocpctl_said"
	saidLife   = 60   // seconds, from the form to the page
	saidBytes  = 1500 // of words; a browser keeps 4096 of a cookie
)

// say leads to a page of ours and has it say what came of a form.
func (p *pages) say(w http.ResponseWriter, r *http.Request, to string, s said) {
	for len(s.Words) > saidBytes {
		_, last := utf8.DecodeLastRuneInString(s.Words)
		s.Words = s.Words[:len(s.Words)-last]
	}
	raw, err := json.Marshal(s)
	if err != nil {
		p.Log.Error("answer not encoded", "page", r.Pattern, "err", err)
	}
	path, _, _ := strings.Cut(to, "?")
	path, _, _ = strings.Cut(path, "#")
	http.SetCookie(w, &http.Cookie{
		Name: saidCookie, Value: base64.RawURLEncoding.EncodeToString(raw), Path: path, MaxAge: saidLife,
		HttpOnly: true, Secure: p.Secure, SameSite: http.SameSiteStrictMode,
	})
	http.Redirect(w, r, to, http.StatusSeeOther)
}

// heard takes what was said for this page. What our script reads to keep a page fresh takes nothing away from a person.
func (p *pages) heard(w http.ResponseWriter, r *http.Request) *said {
	cookie, err := r.Cookie(saidCookie)
	if err != nil || r.Method != http.MethodGet || r.Header.Get("Sec-Fetch-Dest") == "empty" {
		return nil
	}
	http.SetCookie(w, &http.Cookie{
		Name: saidCookie, Path: r.URL.Path, MaxAge: -1, HttpOnly: true, Secure: p.Secure, SameSite: http.SameSiteStrictMode,
	})
	var s said
	raw, err := base64.RawURLEncoding.DecodeString(cookie.Value)
	if err != nil || json.Unmarshal(raw, &s) != nil || s.Words == "" {
		return nil
	}
	return &s
}
