package auth_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app/auth"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/profiles"
)

func TestASessionThatWasEndedIsNobodys(t *testing.T) {
	d := newService(t, nil)
	first, err := d.Exchange.Exchange(t.Context(), "192.0.2.1", d.sign(build))
	require.NoError(t, err)
	second, err := d.Exchange.Exchange(t.Context(), "192.0.2.1", d.sign(build))
	require.NoError(t, err)
	ended, away := map[string]time.Time{}, error(nil)
	v := auth.New(auth.Config{
		Sessions: auth.NewSessions(auth.SessionConfig{Key: d.key, Audience: here}),
		Identities: func() []profiles.Identity {
			return []profiles.Identity{{Source: profiles.SourceAWS, Match: map[string][]string{"account": {"*"}}, Role: "auditor", Teams: []string{"*"}}}
		},
		End: func(_ context.Context, id, principal string, expires time.Time) error {
			require.Equal(t, first.Session.Principal.ID, principal)
			ended[id] = expires
			return away
		},
		Ended: func(_ context.Context, id string) (bool, error) {
			_, found := ended[id]
			return found, away
		},
	})
	reason := func(raw string) auth.Reason {
		_, err := v.Verify(t.Context(), raw)
		var said *auth.Error
		require.ErrorAs(t, err, &said)
		require.NotContains(t, said.Message, raw)
		return said.Reason
	}
	session, err := v.Verify(t.Context(), first.Token.Reveal())
	require.NoError(t, err)
	require.Regexp(t, `^[0-9a-f]{32}$`, session.ID)
	require.NotEmpty(t, v.Now(t.Context(), session).Seats)

	require.NoError(t, v.SignOut(t.Context(), first.Token.Reveal()))
	require.True(t, session.Expires.Equal(ended[session.ID]), "it is remembered until the session expires")
	require.Equal(t, auth.Revoked, reason(first.Token.Reveal()))
	require.Equal(t, policy.Principal{}, v.Now(t.Context(), session), "what goes on for long ends too")
	_, err = v.Verify(t.Context(), second.Token.Reveal())
	require.NoError(t, err, "another session of the same principal goes on")

	away = errors.New("PostgreSQL is away")
	require.Equal(t, auth.Unavailable, reason(second.Token.Reveal()))
	require.ErrorContains(t, v.SignOut(t.Context(), second.Token.Reveal()), "PostgreSQL is away")
	for _, none := range []string{"", "x", "a.b.c", second.Token.Reveal() + "x"} {
		require.NoError(t, v.SignOut(t.Context(), none), "what is no session needs no end")
	}
	require.Len(t, ended, 2)
}

// A note is no session, and a session no note.
func TestANoteAndASessionAreNeverTheOther(t *testing.T) {
	s := auth.NewSessions(auth.SessionConfig{Key: newKey(t), Audience: here})
	note, err := s.SignNote("saml:maya", auth.Note{Page: "/", Message: "held"}, time.Minute)
	require.NoError(t, err)
	_, err = auth.New(auth.Config{Sessions: s}).Verify(t.Context(), note)
	require.Error(t, err)
	got, ok := s.ReadNote("saml:maya", note)
	require.True(t, ok)
	require.Equal(t, auth.Note{Page: "/", Message: "held"}, got)
	_, ok = s.ReadNote("saml:rob", note)
	require.False(t, ok)

	d := newService(t, nil)
	issued, err := d.Exchange.Exchange(t.Context(), "192.0.2.1", d.sign(build))
	require.NoError(t, err)
	_, ok = auth.NewSessions(auth.SessionConfig{Key: d.key, Audience: here}).ReadNote(issued.Session.Principal.ID, issued.Token.Reveal())
	require.False(t, ok)
}
