package auth

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// CookieName is the cookie with the pages' session. What does not fit into one cookie continues in ocpctl_session_1 and so on. Over
// https its name begins with hostAlone.
const CookieName = "ocpctl_session"

// hostAlone is the name prefix of a cookie that browsers accept only from this exact host over https (RFC 6265bis, 4.1.3): no other
// host of the domain can plant a session, or a sign-in that it began itself, in somebody's browser.
const hostAlone = "__Host-"

// Named returns the name of a cookie of ocpctl's. Over https it has the prefix. Over plain http, as in the demo, browsers would
// refuse it.
func Named(name string, secure bool) string {
	if secure {
		return hostAlone + name
	}
	return name
}

// Browsers keep at most 4096 bytes of a cookie, including name and attributes. A session of a person with many groups needs several.
const (
	cookieBytes = 3800
	mostCookies = 4
)

// Bearer returns the token of a request's Authorization header; empty: none.
func Bearer(r *http.Request) string {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}

// FromCookie returns the session of a page's request; empty: not signed in. secure says that the pages are served over https.
func FromCookie(r *http.Request, secure bool) string {
	var session strings.Builder
	for part := range mostCookies {
		cookie, err := r.Cookie(cookiePart(part, secure))
		if err != nil {
			break
		}
		session.WriteString(cookie.Value)
	}
	return session.String()
}

// setCookie stores a session for the pages until it expires, and reports whether it fits. No script can read it. Another site can
// make a browser send it only by linking here, which changes nothing: SameSite is Lax instead of Strict because people come back from
// the identity provider that way.
func setCookie(w http.ResponseWriter, session string, expires time.Time, secure bool) bool {
	if len(session) > cookieBytes*mostCookies {
		return false
	}
	for part := range mostCookies {
		here := session[:min(len(session), cookieBytes)]
		session = session[len(here):]
		if here == "" {
			clearPart(w, part, secure)
			continue
		}
		http.SetCookie(w, &http.Cookie{
			Name: cookiePart(part, secure), Value: here, Path: "/", Expires: expires,
			HttpOnly: true, Secure: secure, SameSite: http.SameSiteLaxMode,
		})
	}
	return true
}

// ClearCookie deletes the session cookies.
func ClearCookie(w http.ResponseWriter, secure bool) {
	for part := range mostCookies {
		clearPart(w, part, secure)
	}
}

func clearPart(w http.ResponseWriter, part int, secure bool) {
	http.SetCookie(w, &http.Cookie{
		Name: cookiePart(part, secure), Path: "/", MaxAge: -1, HttpOnly: true, Secure: secure, SameSite: http.SameSiteLaxMode,
	})
}

func cookiePart(part int, secure bool) string {
	name := Named(CookieName, secure)
	if part == 0 {
		return name
	}
	return name + "_" + strconv.Itoa(part)
}
