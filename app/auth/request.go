package auth

import (
	"net/http"
	"strings"
	"time"
)

// CookieName is the cookie that carries the pages' token.
const CookieName = "ocpctl_session"

// Bearer is the token of a request's Authorization header; empty: none.
func Bearer(r *http.Request) string {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}

// FromCookie is the token of a page's request; empty: not signed in.
func FromCookie(r *http.Request) string {
	cookie, err := r.Cookie(CookieName)
	if err != nil {
		return ""
	}
	return cookie.Value
}

// SetCookie keeps a token for the pages until it expires. No script and no other site can read or send it. secure is
// true wherever the pages are served over https.
func SetCookie(w http.ResponseWriter, token string, expires time.Time, secure bool) {
	http.SetCookie(w, &http.Cookie{
		Name: CookieName, Value: token, Path: "/", Expires: expires,
		HttpOnly: true, Secure: secure, SameSite: http.SameSiteStrictMode,
	})
}

// ClearCookie signs out.
func ClearCookie(w http.ResponseWriter, secure bool) {
	http.SetCookie(w, &http.Cookie{
		Name: CookieName, Path: "/", MaxAge: -1, HttpOnly: true, Secure: secure, SameSite: http.SameSiteStrictMode,
	})
}
