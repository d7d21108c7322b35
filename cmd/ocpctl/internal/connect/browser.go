package connect

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/oauth2"

	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/exit"
)

// BrowserSignIn is the sign-in of a person through the server's pages. What it keeps between commands is one file for each server, readable
// only by its owner: a session for a quarter of an hour and the token that renews it until the person's sign-in to the pages ends.
type BrowserSignIn struct {
	server string
	path   string
	oauth  oauth2.Config
	client *http.Client
	sleep  func(ctx context.Context, d time.Duration) error
	now    func() time.Time
}

// Where the server answers, as app/commandline names them.
const (
	authorizePath = "/oauth/authorize"
	tokenPath     = "/oauth/token"
	revokePath    = "/oauth/revoke"
	askPath       = "/oauth/device_authorization"
)

// NewBrowserSignIn returns the sign-in of a context; nothing is sent yet.
func NewBrowserSignIn(c Context, o Options) (*BrowserSignIn, error) {
	wire, err := newTransport(c.CAFile)
	if err != nil {
		return nil, err
	}
	if o.Sleep == nil {
		o.Sleep = Sleep
	}
	server := strings.TrimRight(c.Server, "/")
	return &BrowserSignIn{
		server: server, path: signInPath(o.Env, server), sleep: o.Sleep, now: o.Now,
		client: &http.Client{Transport: wire, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
		oauth: oauth2.Config{ClientID: "ocpctl", Endpoint: oauth2.Endpoint{
			AuthURL: server + authorizePath, DeviceAuthURL: server + askPath, TokenURL: server + tokenPath, AuthStyle: oauth2.AuthStyleInParams,
		}},
	}, nil
}

// signInPath is in memory if the machine has a file system for that, which is empty after the person signs out of the machine, and otherwise
// with the user's other state.
func signInPath(env func(string) string, server string) string {
	base := env("XDG_RUNTIME_DIR")
	if !filepath.IsAbs(base) {
		if base = env("XDG_STATE_HOME"); !filepath.IsAbs(base) {
			base = filepath.Join(env("HOME"), ".local", "state")
		}
	}
	sum := sha256.Sum256([]byte(server))
	return filepath.Join(base, "ocpctl", "signin", hex.EncodeToString(sum[:12])+".json")
}

func (b *BrowserSignIn) context(ctx context.Context) context.Context {
	return context.WithValue(ctx, oauth2.HTTPClient, b.client)
}

// browserPatience is how long a person may take in the browser.
const browserPatience = 5 * time.Minute

const donePage = `<!doctype html><meta charset="utf-8"><title>ocpctl</title><p style="font:16px system-ui;margin:3em">%s You can close this page.`

// Open signs in through a browser on this machine (RFC 8252): show opens the address, and the server's page sends the browser back to a port of
// this machine with a code, which only this program can use (RFC 7636).
func (b *BrowserSignIn) Open(ctx context.Context, machine string, show func(address string)) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("listen for the browser: %w", err)
	}
	verifier, state := oauth2.GenerateVerifier(), rand.Text()
	conf := b.oauth
	conf.RedirectURL = "http://" + listener.Addr().String() + "/"
	answers := make(chan url.Values, 1)
	server := &http.Server{ReadHeaderTimeout: 10 * time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		if r.Method != http.MethodGet || r.URL.Path != "/" || subtle.ConstantTimeCompare([]byte(q.Get("state")), []byte(state)) != 1 {
			http.NotFound(w, r) // another page of the browser guessed the port
			return
		}
		text := "ocpctl is signed in."
		if q.Get("code") == "" {
			text = "ocpctl was not signed in."
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprintf(w, donePage, text)
		select {
		case answers <- q:
		default:
		}
	})}
	go func() { _ = server.Serve(listener) }() // it ends with Shutdown
	defer func() {
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_ = server.Shutdown(end) // the browser may have closed the connection already
	}()
	show(conf.AuthCodeURL(state, oauth2.S256ChallengeOption(verifier), oauth2.SetAuthURLParam("machine", machine)))
	ctx, cancel := context.WithTimeout(ctx, browserPatience)
	defer cancel()
	select {
	case <-ctx.Done():
		return exit.With(exit.Denied, fmt.Errorf("nobody signed in in the browser within %v", browserPatience))
	case q := <-answers:
		if q.Get("code") == "" {
			return exit.With(exit.Denied, errors.New("the sign-in was refused in the browser"))
		}
		got, err := conf.Exchange(b.context(ctx), q.Get("code"), oauth2.VerifierOption(verifier))
		if err != nil {
			return exit.With(exit.Denied, tellOAuth(err))
		}
		return b.replace(ctx, got)
	}
}

// Type signs in with a code that the person types on the server's page, on any machine (RFC 8628).
func (b *BrowserSignIn) Type(ctx context.Context, machine string, show func(address, code string)) error {
	asked, err := b.oauth.DeviceAuth(b.context(ctx), oauth2.SetAuthURLParam("machine", machine))
	if err != nil {
		return exit.With(exit.Denied, tellOAuth(err))
	}
	show(asked.VerificationURI, asked.UserCode)
	got, err := b.oauth.DeviceAccessToken(b.context(ctx), asked)
	if err != nil {
		return exit.With(exit.Denied, tellOAuth(err))
	}
	return b.replace(ctx, got)
}

// replace keeps a new sign-in, and ends the one before it on the server: nobody could use or end that from here any more.
func (b *BrowserSignIn) replace(ctx context.Context, fresh *oauth2.Token) error {
	before, none := b.read()
	if err := b.keep(fresh); err != nil || none != nil {
		return err
	}
	_ = b.revoke(ctx, before) // it ends by itself, and the person's page on the server lists it
	return nil
}

// tellOAuth makes the server's own text of an error of RFC 6749.
func tellOAuth(err error) error {
	var refused *oauth2.RetrieveError
	switch {
	case errors.As(err, &refused) && refused.ErrorDescription != "":
		return errors.New(refused.ErrorDescription)
	case errors.As(err, &refused) && refused.Response != nil && refused.Response.StatusCode == http.StatusNotFound:
		return errors.New("the server signs in no command lines: it has no SAML, or is older. See ocpctl login --help for other ways to sign in")
	}
	return err
}

var errSignInEnded = errors.New("your sign-in has ended")

// session returns a session for the server: the kept one, or a new one if that ends soon or was refused.
func (b *BrowserSignIn) session(ctx context.Context, refused string) (token, error) {
	unlock, err := b.lock(ctx)
	if err != nil {
		return token{}, err
	}
	defer unlock()
	kept, err := b.read()
	if err != nil {
		return token{}, exit.With(exit.Denied, fmt.Errorf("you are not signed in at %s. Run: ocpctl login --server %s", b.server, b.server))
	}
	if kept.AccessToken != refused && b.now().Add(early).Before(kept.Expiry) {
		return token{text: kept.AccessToken, expires: kept.Expiry}, nil
	}
	// With the lock held, no other process uses the renewal token, which works once.
	ctx, cancel := context.WithTimeout(ctx, lockStale/2)
	defer cancel()
	fresh, err := b.oauth.TokenSource(b.context(ctx), &oauth2.Token{RefreshToken: kept.RefreshToken}).Token()
	var over *oauth2.RetrieveError
	if errors.As(err, &over) && over.ErrorCode == "invalid_grant" {
		_ = os.Remove(b.path) // the next command says the same
		return token{}, exit.With(exit.Denied, fmt.Errorf("%w at %s. Run: ocpctl login --server %s", errSignInEnded, b.server, b.server))
	}
	if err != nil {
		return token{}, tellOAuth(err)
	}
	return token{text: fresh.AccessToken, expires: fresh.Expiry}, b.keep(fresh)
}

// SignOut ends the sign-in on the server and deletes what is kept. It is no error if there is none.
func (b *BrowserSignIn) SignOut(ctx context.Context) error {
	kept, err := b.read()
	if err != nil {
		return nil
	}
	if err := os.Remove(b.path); err != nil {
		return fmt.Errorf("delete the sign-in: %w", err)
	}
	if err := b.revoke(ctx, kept); err != nil {
		return fmt.Errorf("end the sign-in on the server; it ends by itself, or on your page there: %w", err)
	}
	return nil
}

func (b *BrowserSignIn) revoke(ctx context.Context, kept *oauth2.Token) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, b.server+revokePath, strings.NewReader(url.Values{"token": {kept.RefreshToken}}.Encode()))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	answer, err := b.client.Do(r)
	if err != nil {
		return err
	}
	if err := answer.Body.Close(); err != nil || answer.StatusCode == http.StatusOK {
		return err
	}
	return fmt.Errorf("the server answered %s", answer.Status)
}

func (b *BrowserSignIn) read() (*oauth2.Token, error) {
	raw, err := os.ReadFile(b.path)
	if err != nil {
		return nil, err
	}
	var kept oauth2.Token
	if err := json.Unmarshal(raw, &kept); err != nil || kept.RefreshToken == "" {
		return nil, fs.ErrNotExist
	}
	return &kept, nil
}

func (b *BrowserSignIn) keep(t *oauth2.Token) error {
	raw, err := json.Marshal(t)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(b.path), 0o700); err != nil {
		return fmt.Errorf("keep the sign-in: %w", err)
	}
	return WriteFile(b.path, raw)
}

const (
	lockPause = 20 * time.Millisecond
	lockStale = time.Minute // a renewal may take half of it: its process has died
)

// lock lets one process at a time renew the session. A file is used instead of the system's locks because it works alike everywhere.
func (b *BrowserSignIn) lock(ctx context.Context) (unlock func(), err error) {
	path := b.path + ".lock"
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("keep the sign-in: %w", err)
	}
	for {
		file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if err == nil {
			return func() { _ = os.Remove(path) }, file.Close()
		}
		if !errors.Is(err, fs.ErrExist) {
			return nil, fmt.Errorf("lock the sign-in: %w", err)
		}
		if held, err := os.Stat(path); err == nil && time.Since(held.ModTime()) > lockStale {
			_ = os.Remove(path)
			continue
		}
		if err := b.sleep(ctx, lockPause); err != nil {
			return nil, err
		}
	}
}

// fromBrowser returns the sessions of a kept sign-in.
func fromBrowser(b *BrowserSignIn) source {
	var last string
	return func(ctx context.Context) (token, error) {
		got, err := b.session(ctx, last)
		last = got.text
		return got, err
	}
}
