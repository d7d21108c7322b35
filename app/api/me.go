package api

import (
	"errors"
	"net/http"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/app/auth"
	"github.com/ocpctl/ocpctl/app/auth/awsproof"
	"github.com/ocpctl/ocpctl/internal/source"
	"github.com/ocpctl/ocpctl/policy"
)

// GetMe implements GET /api/v1/me.
func (s *server) GetMe(w http.ResponseWriter, r *http.Request) {
	accounts, err := s.Credentials.Accounts(r.Context(), principal(r))
	if err != nil {
		s.writeError(w, r, err)
		return
	}
	out := toMe(visitOf(r).session)
	out.Accounts = accounts
	writeOK(w, out)
}

// UnlinkAccount implements DELETE /api/v1/me/accounts.
func (s *server) UnlinkAccount(w http.ResponseWriter, r *http.Request, params v1.UnlinkAccountParams) {
	if err := s.Credentials.Unlink(r.Context(), principal(r), params.Account, app.Origin{Source: policy.SourceAPI}); err != nil {
		s.writeError(w, r, err)
		return
	}
	s.GetMe(w, r)
}

func toMe(session auth.Session) v1.Me {
	p := session.Principal
	out := v1.Me{ID: p.ID, Name: p.Name, Seats: []v1.Seat{}, May: []string{}, ExpiresAt: utc(session.Expires)}
	for _, seat := range p.Seats {
		out.Seats = append(out.Seats, v1.Seat{Role: v1.SeatRole(seat.Role), Team: seat.Team})
	}
	for _, act := range policy.Acts() {
		if p.MayAnywhere(act) {
			out.May = append(out.May, string(act))
		}
	}
	return out
}

// SignInWithAWS implements POST /api/v1/auth/aws.
func (s *server) SignInWithAWS(w http.ResponseWriter, r *http.Request) {
	var said v1.AWSProof
	if !s.readDocument(w, r, &said, false, maxBody) {
		return
	}
	if s.AWS == nil {
		writeProblem(w, http.StatusNotFound, "AWS identities are not enabled on this server. Sign in with a token from an issuer that it trusts.")
		return
	}
	address := source.Group(s.Proxies.Address(r))
	issued, err := s.AWS.Exchange(r.Context(), address, awsproof.Proof{URL: said.URL, Headers: said.Headers})
	var refused *auth.Error
	switch {
	case errors.As(err, &refused) && refused.Reason == auth.Malformed:
		writeProblem(w, http.StatusUnprocessableEntity, refused.Message)
	case err != nil:
		s.writeUnauthorized(w, r, err)
	default:
		visitOf(r).session = issued.Session
		if wait := s.Pace.Take(issued.Principal.ID); wait > 0 {
			tooMany(w, wait)
			return
		}
		writeOK(w, v1.SessionToken{Token: issued.Token.Reveal(), ExpiresAt: issued.Expires.UTC(), Me: toMe(issued.Session)})
	}
}
