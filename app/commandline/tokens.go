package commandline

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/ocpctl/ocpctl/app/auth"
	"github.com/ocpctl/ocpctl/app/oauth"
	"github.com/ocpctl/ocpctl/internal/secret"
	"github.com/ocpctl/ocpctl/internal/source"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/people"
)

// Where programs ask. The pages are below AuthorizePath and DevicePath.
const (
	MetadataPath  = "/.well-known/oauth-authorization-server" // RFC 8414
	AuthorizePath = "/oauth/authorize"
	TokenPath     = "/oauth/token"
	RevokePath    = "/oauth/revoke" // RFC 7009
	AskPath       = "/oauth/device_authorization"
	DevicePath    = "/device"
)

const deviceGrant = "urn:ietf:params:oauth:grant-type:device_code"

// door is the entry point of programs, for the audit trail.
const door = string(policy.SourceAPI)

// Handler answers programs at MetadataPath, AskPath, TokenPath and RevokePath. They are not signed in yet.
func (s *Service) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+MetadataPath, s.describe)
	mux.HandleFunc("POST "+AskPath, s.ask)
	mux.HandleFunc("POST "+TokenPath, s.giveTokens)
	mux.HandleFunc("POST "+RevokePath, s.revoke)
	return mux
}

func (s *Service) describe(w http.ResponseWriter, _ *http.Request) {
	oauth.WriteJSON(w, http.StatusOK, map[string]any{
		"issuer": s.Home, "authorization_endpoint": s.Home + AuthorizePath, "token_endpoint": s.Home + TokenPath,
		"device_authorization_endpoint": s.Home + AskPath, "revocation_endpoint": s.Home + RevokePath,
		"response_types_supported": []string{"code"}, "grant_types_supported": []string{"authorization_code", "refresh_token", deviceGrant},
		"code_challenge_methods_supported": []string{"S256"}, "token_endpoint_auth_methods_supported": []string{"none"},
	})
}

var (
	errOver    = &oauth.Refusal{Code: "invalid_grant", Text: "The sign-in has ended. Run ocpctl login again."}
	errPending = &oauth.Refusal{Code: "authorization_pending", Text: "Nobody has typed the code yet."}
	errExpired = &oauth.Refusal{Code: "expired_token", Text: "Nobody typed the code in time. Run ocpctl login again."}
	errDenied  = &oauth.Refusal{Code: "access_denied", Text: "The sign-in was refused on the page."}
)

// ask begins a sign-in with a code that a person types (RFC 8628, 3.1).
func (s *Service) ask(w http.ResponseWriter, r *http.Request) {
	s.answer(w, r, func(ctx context.Context) (any, error) {
		device, typed := rand.Text()+rand.Text(), newTypedCode()
		line := people.CommandLine{ID: newID(), Machine: tidyMachine(r.PostForm.Get("machine")), Address: source.Group(s.Proxies.Address(r))}
		err := s.Store.AskCommandLine(ctx, line, hashOf(device), hashOf(plainCode(typed)), typedFor)
		if errors.Is(err, db.ErrConflict) {
			return nil, &oauth.Refusal{Code: "slow_down", Text: "Too many command lines wait to be signed in. Try again in ten minutes."}
		}
		return map[string]any{
			"device_code": device, "user_code": typed, "verification_uri": s.Home + DevicePath, "verification_uri_complete": s.Home + DevicePath + "?code=" + typed,
			"expires_in": int(typedFor.Seconds()), "interval": int(pollEvery.Seconds()),
		}, err
	})
}

// giveTokens gives a session and its renewal token for a code or for the renewal token before.
func (s *Service) giveTokens(w http.ResponseWriter, r *http.Request) {
	s.answer(w, r, func(ctx context.Context) (any, error) {
		switch grant := r.PostForm.Get("grant_type"); grant {
		case "authorization_code":
			return s.open(ctx, r.PostForm.Get("code"), func(l people.CommandLine) bool {
				return l.Challenge != "" && l.Redirect == r.PostForm.Get("redirect_uri") && oauth.MatchesChallenge(l.Challenge, r.PostForm.Get("code_verifier"))
			})
		case deviceGrant:
			return s.open(ctx, r.PostForm.Get("device_code"), func(l people.CommandLine) bool { return l.Challenge == "" })
		case "refresh_token":
			return s.renew(ctx, r.PostForm.Get("refresh_token"))
		default:
			return nil, &oauth.Refusal{Code: "unsupported_grant_type", Text: "grant_type is " + grant + "; it can be authorization_code, " + deviceGrant + " or refresh_token."}
		}
	})
}

// tokens is the response of RFC 6749, 5.1.
type tokens struct {
	Session   string `json:"access_token"`
	Type      string `json:"token_type"`
	ExpiresIn int    `json:"expires_in"`
	Renewal   string `json:"refresh_token"`
}

// issuer issues the tokens of one command line, inside the transaction that stores the renewal token's hash.
type issuer struct {
	*Service
	session, renewal secret.Text
	expires          time.Time
}

func (i *issuer) issue(l people.CommandLine) (hash string, err error) {
	var claims policy.Claims
	if err := json.Unmarshal(l.Claims, &claims); err != nil {
		return "", err
	}
	i.session, i.renewal, i.expires, err = i.Sessions.IssueRenewable(l.ID, claims, *l.ExpiresAt)
	return hashOf(i.renewal.Reveal()), err
}

func (i *issuer) tokens() tokens {
	return tokens{i.session.Reveal(), "Bearer", max(0, int(i.expires.Sub(i.Now()).Seconds())), i.renewal.Reveal()}
}

var errMismatch = &oauth.Refusal{Code: "invalid_grant", Text: "The code is of another sign-in. Run ocpctl login again."}

func (s *Service) open(ctx context.Context, code string, fits func(people.CommandLine) bool) (any, error) {
	i := &issuer{Service: s}
	found, err := s.Store.OpenCommandLine(ctx, hashOf(code), door, func(l people.CommandLine) error {
		if !fits(l) {
			return errMismatch
		}
		return nil
	}, i.issue)
	switch {
	case errors.Is(err, db.ErrNotFound):
		return nil, errOver
	case err != nil:
		return nil, err
	case found.State == people.CommandLineRefused:
		return nil, errDenied
	case found.State == people.CommandLineAsked && s.Now().Before(found.CodeUntil):
		return nil, errPending
	case found.State == people.CommandLineAsked:
		return nil, errExpired
	case i.renewal.Empty(): // used before, ended, or fetched too late
		return nil, errOver
	}
	return i.tokens(), nil
}

func (s *Service) renew(ctx context.Context, raw string) (any, error) {
	id, err := s.Sessions.ReadRenewal(raw)
	if err != nil {
		return nil, errOver
	}
	i := &issuer{Service: s}
	l, err := s.Store.RenewCommandLine(ctx, id, hashOf(raw), door, i.issue)
	switch {
	case errors.Is(err, db.ErrNotFound):
		return nil, errOver
	case err != nil:
		return nil, err
	case l.State == people.CommandLineEnded:
		s.Log.WarnContext(ctx, "a command line was signed out: a renewal token was used after it was replaced", "principal", l.Principal, "machine", l.Machine)
		return nil, errOver
	}
	return i.tokens(), nil
}

// revoke signs a command line out. An unknown token is no error (RFC 7009, 2.2).
func (s *Service) revoke(w http.ResponseWriter, r *http.Request) {
	s.answer(w, r, func(ctx context.Context) (any, error) {
		id, err := s.Sessions.ReadRenewal(r.PostForm.Get("token"))
		var refused *auth.Error
		if errors.As(err, &refused) {
			return struct{}{}, nil
		}
		l, err := s.Store.CommandLine(ctx, id)
		if errors.Is(err, db.ErrNotFound) {
			return struct{}{}, nil
		}
		if err == nil {
			err = s.Store.EndCommandLine(ctx, id, l.Principal, clusters.Origin{Actor: l.Principal, Source: door})
		}
		return struct{}{}, err
	})
}

// answer answers a program that says that it is the command line.
func (s *Service) answer(w http.ResponseWriter, r *http.Request, do func(context.Context) (any, error)) {
	s.door.Answer(w, r, func(ctx context.Context) (any, error) {
		if r.PostForm.Get("client_id") != ClientID && r.URL.Path != RevokePath {
			return nil, &oauth.Refusal{Code: oauth.InvalidClient, Text: "client_id must be " + ClientID + "."}
		}
		return do(ctx)
	})
}
