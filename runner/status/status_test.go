package status

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/internal/secret"
)

// server answers with the given status codes, one after the other, and then with an answer.
type server struct {
	codes  []int
	answer contract.Answer
	tokens []string
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.tokens = append(s.tokens, strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "))
	if len(s.codes) > 0 {
		code := s.codes[0]
		s.codes = s.codes[1:]
		w.WriteHeader(code)
		_ = json.NewEncoder(w).Encode(contract.Problem{Title: http.StatusText(code), Detail: "because the test says so", Status: code})
		return
	}
	s.answer.Token = fmt.Sprintf("token-%d", len(s.tokens))
	_ = json.NewEncoder(w).Encode(s.answer)
}

func start(t *testing.T, s *server) (*Client, context.Context) {
	at := httptest.NewServer(s)
	t.Cleanup(at.Close)
	ctx, stop := context.WithCancelCause(t.Context())
	t.Cleanup(func() { stop(nil) })
	return New(Config{
		URL: at.URL + "/", Token: secret.New("first"), HTTP: http.DefaultClient, Log: slog.New(slog.DiscardHandler), Stop: stop,
		Call: 10 * time.Second, RetryMin: time.Microsecond, RetryMax: time.Millisecond,
	}), ctx
}

func never() bool { return false }

func TestACallIsRepeatedUntilItIsAnsweredAndEveryAnswerRenewsTokenAndLease(t *testing.T) {
	s := &server{codes: []int{http.StatusBadGateway, http.StatusUnauthorized, http.StatusTooManyRequests}, answer: contract.Answer{Lease: time.Minute}}
	c, ctx := start(t, s)
	require.True(t, c.LeaseOver(), "nothing was answered yet")
	_, err := c.Send(ctx, "report", nil, never)
	require.NoError(t, err)
	require.False(t, c.LeaseOver())
	_, err = c.Send(ctx, "report", nil, never)
	require.NoError(t, err)
	require.Equal(t, []string{"first", "first", "first", "first", "token-4"}, s.tokens)
	require.NoError(t, ctx.Err())
}

func TestWhatARetryCannotChangeIsAnErrorAtOnce(t *testing.T) {
	for code, want := range map[int]error{
		http.StatusConflict: ErrFenced, http.StatusGone: ErrFenced, http.StatusBadRequest: ErrRefused, http.StatusUnprocessableEntity: ErrRefused, http.StatusRequestEntityTooLarge: ErrRefused,
	} {
		s := &server{codes: []int{code}}
		c, ctx := start(t, s)
		_, err := c.Send(ctx, "report", nil, never)
		require.ErrorIs(t, err, want)
		require.ErrorContains(t, err, "because the test says so")
		require.Len(t, s.tokens, 1)
	}
}

func TestACallGivesUpWhenItIsTold(t *testing.T) {
	c, ctx := start(t, &server{codes: []int{500, 500, 500, 500}})
	tries := 0
	_, err := c.Send(ctx, "report", nil, func() bool { tries++; return tries == 3 })
	require.ErrorIs(t, err, ErrLeaseOver)
	require.ErrorContains(t, err, "status 500")
}

func TestAStopEndsTheWorkWithItsReason(t *testing.T) {
	c, ctx := start(t, &server{answer: contract.Answer{Stop: "the cluster is not wanted any more", Lease: time.Minute}})
	_, err := c.Send(ctx, "report", nil, never)
	require.NoError(t, err)
	require.Equal(t, StopAsked{"the cluster is not wanted any more"}, context.Cause(ctx))
	_, err = c.Send(ctx, "report", nil, never)
	require.ErrorIs(t, err, context.Cause(ctx), "work that ended asks nothing more")
}

func TestALeaseIsMeasuredFromTheRequestAndNeverShortened(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l lease
		sent := time.Now()
		time.Sleep(10 * time.Second)
		l.renewUntil(sent, time.Minute)
		require.Equal(t, 50*time.Second, l.remainingTime())
		l.renewUntil(sent, time.Second)
		require.Equal(t, 50*time.Second, l.remainingTime(), "an answer that was late")
		time.Sleep(time.Minute)
		require.Equal(t, -10*time.Second, l.remainingTime())
	})
}
