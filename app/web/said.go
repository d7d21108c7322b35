package web

import (
	"encoding/json"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ocpctl/ocpctl/app/auth"
	"github.com/ocpctl/ocpctl/policy"
)

// said is the answer to a form, shown once on the page it led to. It never holds a secret: it travels in a cookie.
type said struct {
	Words string
	Bad   bool // nothing was done
}

const (
	saidCookie = "ocpctl_said"
	saidLife   = time.Minute // from the form to the page
	saidBytes  = 2300        // of words and page; signed and in base64 they stay below the 4096 that a browser keeps
)

// say leads to a page of ours and has it say what came of a form.
func (p *pages) say(w http.ResponseWriter, r *http.Request, who policy.Principal, to string, s said) {
	to = auth.Local(to) // it may end with what somebody put into the address of a form
	path, _, _ := strings.Cut(to, "?")
	if value := p.signed(who, path, s); value != "" {
		p.saidCookie(w, value, int(saidLife.Seconds()))
	}
	http.Redirect(w, r, to, http.StatusSeeOther)
}

// saidCookie sets the cookie, or takes it away. Its path is that of all pages, which the name of a host's own cookie asks for;
// which page says it is part of what is signed.
func (p *pages) saidCookie(w http.ResponseWriter, value string, maxAge int) {
	http.SetCookie(w, &http.Cookie{
		Name: auth.Named(saidCookie, p.Secure), Value: value, Path: "/", MaxAge: maxAge,
		HttpOnly: true, Secure: p.Secure, SameSite: http.SameSiteStrictMode,
	})
}

// signed is what is said as only we can say it; what is too long loses its end. Empty: it cannot be said.
func (p *pages) signed(who policy.Principal, page string, s said) string {
	if p.Sessions == nil {
		return ""
	}
	note := auth.Note{Page: page, Words: fitting(s.Words, saidBytes-len(page)), Bad: s.Bad}
	if note.Words == "" {
		return ""
	}
	value, err := p.Sessions.SignNote(who.ID, note, saidLife)
	if err != nil {
		p.Log.Error("the answer to a form was not signed", "err", err)
		return ""
	}
	return value
}

// fitting cuts words between two letters to what takes so many bytes in JSON.
func fitting(words string, most int) string {
	size := 0
	for at, letter := range words {
		raw, _ := json.Marshal(string(letter)) // of a string: it never fails
		if size += len(raw) - len(`""`); size > most {
			return words[:at]
		}
	}
	return strings.ToValidUTF8(words, string(utf8.RuneError))
}

// heard takes what was said for this page and this person. What our script reads to keep a page fresh takes nothing away from
// a person.
func (p *pages) heard(w http.ResponseWriter, r *http.Request, who policy.Principal) *said {
	cookie, err := r.Cookie(auth.Named(saidCookie, p.Secure))
	if err != nil || p.Sessions == nil || r.Method != http.MethodGet || r.Header.Get("Sec-Fetch-Dest") == "empty" {
		return nil
	}
	note, ok := p.Sessions.ReadNote(who.ID, cookie.Value)
	if !ok || note.Page != r.URL.Path { // not ours, or another page says it
		return nil
	}
	p.saidCookie(w, "", -1)
	return &said{Words: note.Words, Bad: note.Bad}
}
