// Package commandline signs in the command lines of people who sign in to the pages: OAuth 2.0 for native programs (RFC 8252) with PKCE
// (RFC 7636) through a browser on the same machine, or with a code that the person types on any machine (RFC 8628). Renewal tokens rotate (RFC
// 9700, 4.14.2) and end with the sign-in to the pages that confirmed them.
//
// The package decides no right: a command line has the claims that the person's sign-in proved, and the catalogue's identities give those seats
// at each request. Of codes and tokens only hashes are stored.
package commandline

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"strings"
	"time"
	"unicode"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/app/auth"
	"github.com/ocpctl/ocpctl/app/oauth"
	"github.com/ocpctl/ocpctl/internal/secret"
	"github.com/ocpctl/ocpctl/internal/source"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/profiles"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/people"
)

// ClientID is the client of ocpctl's command line. It has no secret: everybody has the program.
const ClientID = "ocpctl"

const (
	passedOnFor = time.Minute      // how long a browser may take to pass a code on
	typedFor    = 10 * time.Minute // how long a person may take to type a code
	pollEvery   = 2 * time.Second  // how often a program may ask whether the person is done
)

// Config configures the service.
type Config struct {
	Store    *people.Store
	Sessions *auth.Sessions
	Home     string           // URL of the pages
	Proxies  source.Networks  // proxies whose information about the client is trusted
	Now      func() time.Time // nil: time.Now
	Log      *slog.Logger
}

// Service signs in command lines. Safe for concurrent use.
type Service struct {
	Config
	door *oauth.Door
}

// New returns the service.
func New(c Config) *Service {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	c.Home = strings.TrimRight(c.Home, "/")
	return &Service{c, oauth.NewDoor(c.Proxies, c.Log)}
}

// Request is what a program asks for through a browser: the parameters of RFC 6749, 4.1.1.
type Request struct {
	Redirect, State, Challenge, Machine string
}

// ReadRequest reads the parameters of a page that a program opened. A browser is only redirected to a program on the same machine. Its errors
// are *app.Error.
func ReadRequest(q url.Values) (Request, error) {
	r := Request{q.Get("redirect_uri"), q.Get("state"), q.Get("code_challenge"), tidyMachine(q.Get("machine"))}
	var wrong []app.Field
	for _, required := range []struct{ name, value string }{{"response_type", "code"}, {"client_id", ClientID}, {"code_challenge_method", "S256"}} {
		if q.Get(required.name) != required.value {
			wrong = append(wrong, app.Field{Name: required.name, Detail: fmt.Sprintf("It is %q.", q.Get(required.name)), Accept: []string{required.value}})
		}
	}
	if !isLoopback(r.Redirect) {
		wrong = append(wrong, app.Field{Name: "redirect_uri", Detail: "It is not an address of this machine.", Accept: []string{"http://127.0.0.1:<port>/"}})
	}
	if !oauth.IsChallenge(r.Challenge) {
		wrong = append(wrong, app.Field{Name: "code_challenge", Detail: "It is not a SHA-256 hash in base64url."})
	}
	if len(wrong) > 0 {
		return r, &app.Error{Kind: app.Invalid, Message: "This is not a command line's sign-in. Run ocpctl login again.", Fields: wrong}
	}
	return r, nil
}

// isLoopback reports whether an address is of a program on the browser's own machine (RFC 8252, 7.3).
func isLoopback(address string) bool {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" || u.User != nil || u.Fragment != "" || u.Port() == "" {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return ip != nil && ip.IsLoopback()
}

// tidyMachine makes a name that a program sent fit to be shown.
func tidyMachine(name string) string {
	name = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) || r == unicode.ReplacementChar {
			return -1
		}
		return r
	}, name)
	if len(name) > 64 {
		name = strings.ToValidUTF8(name[:64], "")
	}
	if name = strings.TrimSpace(name); name == "" {
		return "an unnamed machine"
	}
	return name
}

// CheckPerson refuses whoever did not sign in to the pages as a person: a program proves its own identity. The error is an *app.Error.
func CheckPerson(by auth.Session) error {
	if by.ID == "" || by.Claims.Source != profiles.SourceSAML {
		return &app.Error{Kind: app.Denied, Message: "Only a person who signed in to the pages can sign in a command line. A program proves its own identity: see ocpctl login --help."}
	}
	return nil
}

// Confirm signs in the program that opened the page as the person, and returns where to send the browser with the code.
func (s *Service) Confirm(ctx context.Context, r Request, by auth.Session, address string) (secret.Text, error) {
	code := rand.Text() + rand.Text()
	line, err := lineOf(by)
	if err != nil {
		return secret.Text{}, err
	}
	line.ID, line.Machine, line.Address, line.Challenge, line.Redirect = newID(), r.Machine, address, r.Challenge, r.Redirect
	if err := s.Store.ConfirmCommandLine(ctx, line, hashOf(code), "", passedOnFor, originOf(by)); err != nil {
		return secret.Text{}, fmt.Errorf("sign in a command line: %w", err)
	}
	return secret.New(r.address("code", code)), nil
}

// Refusal returns where to send the browser of a person who does not sign the program in.
func (r Request) Refusal() string { return r.address("error", "access_denied") }

func (r Request) address(name, value string) string {
	u, err := url.Parse(r.Redirect)
	if err != nil { // ReadRequest parsed it
		return "/"
	}
	q := u.Query()
	q.Set(name, value)
	q.Set("state", r.State)
	u.RawQuery = q.Encode()
	return u.String()
}

// lineOf is a command line with the person's claims, which ends when the person's sign-in does.
func lineOf(by auth.Session) (people.CommandLine, error) {
	if err := CheckPerson(by); err != nil {
		return people.CommandLine{}, err
	}
	until := by.Expires
	claims, err := json.Marshal(by.Claims)
	return people.CommandLine{Principal: by.Principal.ID, Claims: claims, ExpiresAt: &until}, err
}

func originOf(by auth.Session) clusters.Origin {
	return clusters.Origin{Actor: by.Principal.ID, Source: string(policy.SourceWeb)}
}

// errNoCode is the same for a code that never was and one that is over, so that codes cannot be probed.
var errNoCode = &app.Error{Kind: app.NotFound, Message: "No command line waits for this code. Check it, or run ocpctl login again: a code is valid for ten minutes."}

// Waiting returns the command line that waits for a typed code.
func (s *Service) Waiting(ctx context.Context, typed string) (people.CommandLine, error) {
	l, err := s.Store.AskedCommandLine(ctx, hashOf(plainCode(typed)))
	if errors.Is(err, db.ErrNotFound) {
		return l, errNoCode
	}
	return l, err
}

// Answer signs in the command line that waits for a typed code as the person, or refuses it.
func (s *Service) Answer(ctx context.Context, typed string, yes bool, by auth.Session) error {
	hash := hashOf(plainCode(typed))
	line, err := lineOf(by)
	switch {
	case err != nil:
	case yes:
		err = s.Store.ConfirmCommandLine(ctx, line, "", hash, 0, originOf(by))
	default:
		err = s.Store.RefuseCommandLine(ctx, hash, originOf(by))
	}
	if errors.Is(err, db.ErrNotFound) {
		return errNoCode
	}
	return err
}

// Open returns the command lines that are signed in as a principal.
func (s *Service) Open(ctx context.Context, p policy.Principal) ([]people.CommandLine, error) {
	return s.Store.CommandLinesOf(ctx, p.ID)
}

// End signs one of the person's command lines out.
func (s *Service) End(ctx context.Context, id string, by auth.Session) error {
	err := s.Store.EndCommandLine(ctx, id, by.Principal.ID, originOf(by))
	if errors.Is(err, db.ErrNotFound) {
		return &app.Error{Kind: app.NotFound, Message: "This command line is not signed in as you."}
	}
	return err
}

// codeLetters have no vowels, so that no code is a word, and no letters that look alike.
const codeLetters = "BCDFGHJKLMNPQRSTVWXZ"

// newTypedCode returns eight random letters in two groups (RFC 8628, 6.1).
func newTypedCode() string {
	raw := make([]byte, 0, 9)
	for len(raw) < cap(raw) {
		var b [1]byte
		_, _ = rand.Read(b[:]) // never fails: crypto/rand ends the program instead
		if int(b[0]) >= 256-256%len(codeLetters) {
			continue
		}
		if len(raw) == 4 {
			raw = append(raw, '-')
		}
		raw = append(raw, codeLetters[int(b[0])%len(codeLetters)])
	}
	return string(raw)
}

// plainCode is a typed code without what people add: spaces, dashes, small letters.
func plainCode(typed string) string {
	return strings.Map(func(r rune) rune {
		if !strings.ContainsRune(codeLetters, r) {
			return -1
		}
		return r
	}, strings.ToUpper(typed))
}

func newID() string {
	var raw [16]byte
	_, _ = rand.Read(raw[:]) // as above
	return hex.EncodeToString(raw[:])
}

func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}
