package web

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/ocpctl/ocpctl/app/auth"
)

// said is the answer to a form, shown once on the page it led to. It never holds a secret: it travels in a cookie.
type said struct {
	Words string `json:"w"`
	Bad   bool   `json:"b,omitempty"` // nothing was done
}

const (
	saidCookie = "ocpctl_said"
	saidLife   = 60   // seconds, from the form to the page
	saidBytes  = 3000 // of the cookie's value; a browser keeps 4096 with its attributes
)

// say leads to a page of ours and has it say what came of a form.
func (p *pages) say(w http.ResponseWriter, r *http.Request, to string, s said) {
	to = auth.Local(to) // it may end with what somebody put into the address of a form
	path, _, _ := strings.Cut(to, "?")
	http.SetCookie(w, &http.Cookie{
		Name: saidCookie, Value: s.encoded(), Path: path, MaxAge: saidLife,
		HttpOnly: true, Secure: p.Secure, SameSite: http.SameSiteStrictMode,
	})
	http.Redirect(w, r, to, http.StatusSeeOther)
}

// encoded fits into a cookie; what is too long loses its end.
func (s said) encoded() string {
	for {
		raw, _ := json.Marshal(s) // of a string and a flag: it never fails
		if value := base64.RawURLEncoding.EncodeToString(raw); len(value) <= saidBytes {
			return value
		}
		for range 20 {
			_, last := utf8.DecodeLastRuneInString(s.Words)
			s.Words = s.Words[:len(s.Words)-last]
		}
	}
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
