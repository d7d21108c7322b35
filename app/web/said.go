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

// said is the result of a form, shown once on the page to which it led. It never contains a secret, because it is stored in a cookie.
type said struct {
	Message string
	Bad     bool // nothing was done
}

const (
	saidCookie = "ocpctl_said"
	saidLife   = time.Minute // from the form to the page
	saidBytes  = 2300        // of text and page; signed and in base64 they stay below the 4096 bytes that browsers keep
)

// redirectWith redirects to one of our pages, which shows the result of a form.
func (p *pages) redirectWith(w http.ResponseWriter, r *http.Request, who policy.Principal, to string, s said) {
	to = auth.Local(to) // it may end with what somebody put into a form's URL
	path, _, _ := strings.Cut(to, "?")
	if value := p.signMessage(who, path, s); value != "" {
		p.setMessageCookie(w, value, int(saidLife.Seconds()))
	}
	http.Redirect(w, r, to, http.StatusSeeOther)
}

// setMessageCookie sets or deletes the cookie. Its path is that of all pages, which the prefix of a host's own cookie requires; the page
// for which it is meant is part of the signed content.
func (p *pages) setMessageCookie(w http.ResponseWriter, value string, maxAge int) {
	http.SetCookie(w, &http.Cookie{
		Name: auth.Named(saidCookie, p.Secure), Value: value, Path: "/", MaxAge: maxAge,
		HttpOnly: true, Secure: p.Secure, SameSite: http.SameSiteStrictMode,
	})
}

// signMessage returns the signed message; a long text is cut. Empty: it cannot be shown.
func (p *pages) signMessage(who policy.Principal, page string, s said) string {
	if p.Sessions == nil {
		return ""
	}
	note := auth.Note{Page: page, Message: fitText(s.Message, saidBytes-len(page)), Bad: s.Bad}
	if note.Message == "" {
		return ""
	}
	value, err := p.Sessions.SignNote(who.ID, note, saidLife)
	if err != nil {
		p.Log.Error("the answer to a form was not signed", "err", err)
		return ""
	}
	return value
}

// fitText cuts a text between two characters so that it takes at most so many bytes in JSON.
func fitText(text string, most int) string {
	size := 0
	for at, letter := range text {
		raw, _ := json.Marshal(string(letter)) // encoding a string never fails
		if size += len(raw) - len(`""`); size > most {
			return text[:at]
		}
	}
	return strings.ToValidUTF8(text, string(utf8.RuneError))
}

// takeMessage takes the message for this page and this person. A request by our refresh script leaves it for the person.
func (p *pages) takeMessage(w http.ResponseWriter, r *http.Request, who policy.Principal) *said {
	cookie, err := r.Cookie(auth.Named(saidCookie, p.Secure))
	if err != nil || p.Sessions == nil || r.Method != http.MethodGet || r.Header.Get("Sec-Fetch-Dest") == "empty" {
		return nil
	}
	note, ok := p.Sessions.ReadNote(who.ID, cookie.Value)
	if !ok || note.Page != r.URL.Path { // not ours, or for another page
		return nil
	}
	p.setMessageCookie(w, "", -1)
	return &said{Message: note.Message, Bad: note.Bad}
}
