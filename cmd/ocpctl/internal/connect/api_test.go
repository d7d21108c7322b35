package connect_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/connect"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/exit"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/standtest"
)

// dial opens a connection that never really sleeps; the waits it would have made are collected.
func dial(t *testing.T, c connect.Context, env map[string]string) (*connect.API, *[]time.Duration) {
	var waits []time.Duration
	api, err := connect.Open(c, connect.Options{
		Env: func(name string) string { return env[name] }, Now: time.Now, Stderr: io.Discard, Version: "v1",
		Sleep: func(ctx context.Context, d time.Duration) error {
			waits = append(waits, d)
			return ctx.Err()
		},
	})
	require.NoError(t, err)
	return api, &waits
}

// tokenFile is a context that sends what a file says.
func tokenFile(t *testing.T, server, token string) connect.Context {
	path := filepath.Join(t.TempDir(), "token")
	require.NoError(t, os.WriteFile(path, []byte(token+"\n"), 0o600))
	return connect.Context{Server: server, Auth: connect.TokenFile, TokenFile: path}
}

func me(api *connect.API) error {
	_, err := connect.Read[v1.Me](api.GetMe(context.Background()))
	return err
}

func TestEachWayToSignInBringsItsToken(t *testing.T) {
	actions := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") == "Bearer request-token" && r.URL.Query().Get("audience") == "ocpctl" && r.URL.Query().Get("api-version") == "2.0" {
			fmt.Fprintf(w, `{"value": %q}`, standtest.Token)
			return
		}
		w.WriteHeader(http.StatusForbidden)
	}))
	t.Cleanup(actions.Close)
	github := map[string]string{"ACTIONS_ID_TOKEN_REQUEST_URL": actions.URL + "?api-version=2.0", "ACTIONS_ID_TOKEN_REQUEST_TOKEN": "request-token"}
	s := standtest.New(t)
	for name, c := range map[string]connect.Context{
		"a file":               tokenFile(t, s.URL, standtest.Token),
		"a command":            {Server: s.URL, Auth: connect.TokenCommand, TokenCommand: "echo " + standtest.Token},
		"a GitHub Actions job": {Server: s.URL, Auth: connect.GitHub, Audience: "ocpctl"},
	} {
		t.Run(name, func(t *testing.T) {
			api, _ := dial(t, c, github)
			require.NoError(t, me(api))
		})
	}
}

func TestAServerCannotChooseForWhomATokenOfGitHubActionsIs(t *testing.T) {
	for name, c := range map[string]struct{ published, context, want string }{
		"nothing is published":       {published: "", want: "%s"},
		"its own address":            {published: "%s", want: "%s"},
		"another server's address":   {published: "https://ocpctl.example.com", want: "%s"},
		"an audience of ocpctl":      {published: "ocpctl", want: "%s"},
		"an audience of AWS":         {published: "sts.amazonaws.com", want: "%s"},
		"a person set another one":   {published: "sts.amazonaws.com", context: "ocpctl-ci", want: "ocpctl-ci"},
		"a person set the same name": {published: "ocpctl", context: "ocpctl", want: "ocpctl"},
	} {
		t.Run(name, func(t *testing.T) {
			var asked []string
			actions := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				asked = append(asked, r.URL.Query().Get("audience"))
				fmt.Fprintf(w, `{"value": %q}`, standtest.Token)
			}))
			t.Cleanup(actions.Close)
			var server *httptest.Server
			server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/.well-known/ocpctl" {
					published := strings.ReplaceAll(c.published, "%s", server.URL)
					fmt.Fprintf(w, `{"issuers": [{"issuer": "https://token.actions.githubusercontent.com", "audiences": [%q]}]}`, published)
					return
				}
				fmt.Fprint(w, `{"id": "x"}`)
			}))
			t.Cleanup(server.Close)
			api, _ := dial(t, connect.Context{Server: server.URL, Auth: connect.GitHub, Audience: c.context},
				map[string]string{"ACTIONS_ID_TOKEN_REQUEST_URL": actions.URL, "ACTIONS_ID_TOKEN_REQUEST_TOKEN": "request-token"})
			_, err := api.Release(t.Context())
			require.NoError(t, err)
			require.NoError(t, me(api))
			require.Equal(t, []string{strings.ReplaceAll(c.want, "%s", server.URL)}, asked)
		})
	}
}

func TestATokenForAnotherServerIsNotSent(t *testing.T) {
	const elsewhere = "https://ocpctl.example.com"
	for name, c := range map[string]struct {
		audience string // JSON; %s is the server's own address
		context  string
		refused  bool
	}{
		"its own address":                       {audience: `"%s"`},
		"its own address with a slash":          {audience: `["%s/"]`},
		"another server":                        {audience: `"https://ocpctl.example.com"`, refused: true},
		"another server, in a list":             {audience: `["https://ocpctl.example.com"]`, refused: true},
		"Kubernetes itself":                     {audience: `["https://kubernetes.default.svc"]`, refused: true},
		"this server and another one":           {audience: `["https://ocpctl.example.com", "%s"]`},
		"a name":                                {audience: `"ocpctl"`},
		"none":                                  {audience: `null`},
		"another address that a person allowed": {audience: `"https://ocpctl.example.com"`, context: elsewhere},
	} {
		t.Run(name, func(t *testing.T) {
			var sent []string
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				sent = append(sent, r.Header.Get("Authorization"))
				fmt.Fprint(w, `{"id": "x"}`)
			}))
			t.Cleanup(server.Close)
			claims := fmt.Sprintf(`{"aud": %s}`, strings.ReplaceAll(c.audience, "%s", server.URL))
			jwt := "e30." + base64.RawURLEncoding.EncodeToString([]byte(claims)) + ".c2ln"
			chosen, err := connect.Choose(connect.Config{}, connect.Wanted{Server: server.URL}, func(name string) string { return map[string]string{"OCPCTL_TOKEN": jwt}[name] })
			require.NoError(t, err)
			chosen.Audience = c.context
			file := tokenFile(t, server.URL, jwt)
			file.Audience = c.context
			for way, with := range map[string]connect.Context{
				"environment": chosen, "file": file,
				"command": {Server: server.URL, Auth: connect.TokenCommand, TokenCommand: "echo " + jwt, Audience: c.context},
			} {
				sent = nil
				api, _ := dial(t, with, map[string]string{"OCPCTL_TOKEN": jwt})
				err := me(api)
				if c.refused || c.context != "" && way == "environment" {
					require.ErrorContains(t, err, "the token is for https://", way)
					require.Equal(t, exit.Denied, exit.CodeOf(err))
					require.Empty(t, sent, way)
					continue
				}
				require.NoError(t, err, way)
				require.Equal(t, []string{"Bearer " + jwt}, sent, way)
			}
		})
	}
}

func TestAWSCredentialsAreExchangedAndStayHere(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "demo-very-secret")
	t.Setenv("AWS_CONFIG_FILE", "/nowhere")
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", "/nowhere")
	s := standtest.New(t)
	s.Answer("signInWithAWS", map[string]any{"token": standtest.Token, "expiresAt": time.Now().Add(15 * time.Minute), "me": map[string]any{"id": "x", "name": "x", "seats": []any{}, "may": []any{}}})
	api, _ := dial(t, connect.Context{Server: s.URL, Auth: connect.AWS, AWSRegion: "eu-west-1"}, nil)
	require.NoError(t, me(api))
	require.NoError(t, me(api), "the token is kept in memory")
	asked := s.Asked()
	require.Len(t, asked, 3)
	require.Equal(t, "signInWithAWS", asked[0].Operation)
	require.Empty(t, asked[0].Header.Get("Authorization"))
	require.Contains(t, asked[0].Body, "https://sts.eu-west-1.amazonaws.com/?Action=GetCallerIdentity")
	require.Contains(t, asked[0].Body, `"x-ocpctl-audience":"`+s.URL+`"`)
	require.NotContains(t, asked[0].Body, "demo-very-secret")
}

func TestAWaySignInFailsSaysWhatToDo(t *testing.T) {
	s := standtest.New(t)
	for name, c := range map[string]struct {
		context connect.Context
		env     map[string]string
		text    string
	}{
		"no job of GitHub Actions":    {connect.Context{Server: s.URL, Auth: connect.GitHub}, nil, "not a job of GitHub Actions"},
		"a file that is not there":    {connect.Context{Server: s.URL, Auth: connect.TokenFile, TokenFile: "/nowhere"}, nil, "no such file"},
		"a file with more than one":   {tokenFile(t, s.URL, "a b"), nil, "contains more than a token"},
		"a command that fails":        {connect.Context{Server: s.URL, Auth: connect.TokenCommand, TokenCommand: "exit 3"}, nil, `run the token command "exit 3": exit status 3`},
		"a command that says nothing": {connect.Context{Server: s.URL, Auth: connect.TokenCommand, TokenCommand: "true"}, nil, "contains no token"},
		"a token that is not known":   {tokenFile(t, s.URL, "old-token"), nil, "The token is not known."},
	} {
		t.Run(name, func(t *testing.T) {
			api, waits := dial(t, c.context, c.env)
			err := me(api)
			require.ErrorContains(t, err, c.text)
			require.Equal(t, exit.Denied, exit.CodeOf(err))
			require.NotContains(t, err.Error(), "old-token")
			require.Empty(t, *waits, "asking again is no use")
		})
	}
}

func TestATokenIsFetchedAnewBeforeItsEndAndWhenItIsRefused(t *testing.T) {
	now := time.Now()
	jwt := func(name string, life time.Duration) string {
		claims := base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, `{"sub":%q,"exp":%d}`, name, now.Add(life).Unix()))
		return "e30." + claims + ".x"
	}
	good := jwt("second", time.Hour)
	var seen []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen = append(seen, r.Header.Get("Authorization"))
		if r.Header.Get("Authorization") != "Bearer "+good {
			standtest.Problem(w, 401, map[string]any{"title": "Unauthorized", "status": 401, "detail": "It is over."})
			return
		}
		fmt.Fprint(w, `{"id":"x"}`)
	}))
	t.Cleanup(server.Close)
	c := tokenFile(t, server.URL, jwt("first", time.Hour))
	api, _ := dial(t, c, nil)
	require.Error(t, me(api))
	require.Len(t, seen, 1, "the same token is not sent twice")
	require.NoError(t, os.WriteFile(c.TokenFile, []byte(good), 0o600))
	require.NoError(t, me(api), "refused, so it is read again")
	require.NoError(t, me(api))
	require.Len(t, seen, 4)

	require.NoError(t, os.WriteFile(c.TokenFile, []byte(jwt("soon over", 20*time.Second)), 0o600))
	soon, _ := dial(t, c, nil)
	require.Error(t, me(soon))
	require.NoError(t, os.WriteFile(c.TokenFile, []byte(good), 0o600))
	before := len(seen)
	require.NoError(t, me(soon))
	require.Len(t, seen, before+1, "nearly over, so it is read before it is sent")
}

func TestWhatIsAskedAgain(t *testing.T) {
	var calls atomic.Int32
	var answer func(w http.ResponseWriter, n int32)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { answer(w, calls.Add(1)) }))
	t.Cleanup(server.Close)
	ok := func(w http.ResponseWriter) { fmt.Fprint(w, `{"clusterId":"clu_1"}`) }
	hangUp := func(w http.ResponseWriter) {
		conn, _, err := w.(http.Hijacker).Hijack()
		require.NoError(t, err)
		conn.Close()
	}
	busy := func(status int, after string) func(http.ResponseWriter, int32) {
		return func(w http.ResponseWriter, n int32) {
			if n > 2 {
				ok(w)
				return
			}
			w.Header().Set("Retry-After", after)
			standtest.Problem(w, status, map[string]any{"title": "busy", "status": status})
		}
	}
	lost := func(w http.ResponseWriter, n int32) {
		if n > 2 {
			ok(w)
			return
		}
		hangUp(w)
	}
	create := func(api *connect.API) (*http.Response, error) {
		return api.CreateCluster(context.Background(), &v1.CreateClusterParams{IdempotencyKey: "k"}, v1.CreateRequest{Name: "x"})
	}
	extend := func(api *connect.API) (*http.Response, error) {
		return api.ExtendCluster(context.Background(), "x", nil, v1.Extend{Hours: 4})
	}
	get := func(api *connect.API) (*http.Response, error) { return api.GetMe(context.Background()) }
	for name, c := range map[string]struct {
		do     func(*connect.API) (*http.Response, error)
		answer func(http.ResponseWriter, int32)
		calls  int32
		fails  string
	}{
		"a look after a lost connection":                    {get, lost, 3, ""},
		"a create after a lost connection, by its key":      {create, lost, 3, ""},
		"an extension never: it would count twice":          {extend, lost, 1, "may or may not have received the request"},
		"an extension that was refused because it is busy":  {extend, busy(429, "2"), 3, ""},
		"a look at a server that starts":                    {get, busy(503, ""), 3, ""},
		"not after an hour":                                 {get, busy(503, "3600"), 1, "busy"},
		"a look through a proxy without a server behind it": {get, busy(502, ""), 3, ""},
		"no extension through such a proxy":                 {extend, busy(502, ""), 1, "busy"},
		"no extension that took the server too long":        {extend, busy(504, ""), 1, "busy"},
		"a create that took the server too long":            {create, busy(504, ""), 3, ""},
		"not for ever":                                      {get, func(w http.ResponseWriter, _ int32) { hangUp(w) }, 6, "connect to http://127.0.0.1"},
	} {
		t.Run(name, func(t *testing.T) {
			calls.Store(0)
			answer = c.answer
			api, waits := dial(t, tokenFile(t, server.URL, "x"), nil)
			_, err := connect.Body(c.do(api))
			if c.fails == "" {
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, c.fails)
			}
			require.Equal(t, c.calls, calls.Load())
			require.Len(t, *waits, int(c.calls)-1)
			if name == "an extension that was refused because it is busy" {
				require.InDelta(t, 2*time.Second, (*waits)[0], float64(250*time.Millisecond))
			}
		})
	}
}

func TestAnExtensionIsAskedAgainWhereNoConnectionCameAbout(t *testing.T) {
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	api, waits := dial(t, tokenFile(t, gone.URL, "x"), nil)
	_, err := connect.Body(api.ExtendCluster(context.Background(), "x", nil, v1.Extend{Hours: 4}))
	require.ErrorContains(t, err, "connect to http://127.0.0.1")
	require.Len(t, *waits, 5)
}

func TestEveryErrorAnswerHasItsCode(t *testing.T) {
	s := standtest.New(t)
	api, _ := dial(t, tokenFile(t, s.URL, standtest.Token), nil)
	for status, want := range map[int]exit.Code{
		400: exit.Usage, 401: exit.Denied, 403: exit.Denied, 404: exit.NotFound, 409: exit.Conflict, 410: exit.NotFound, 412: exit.Conflict,
		413: exit.Usage, 422: exit.Refused, 500: exit.Other, 503: exit.Other,
	} {
		s.Refuse("getMe", status, map[string]any{"title": "t", "status": status, "detail": "What is wrong.", "errors": []any{
			map[string]any{"field": "region", "detail": "it is \x1b[31mnot allowed", "accepted": []string{"us-east-1", "eu-west-1"}}}})
		err := me(api)
		require.Equal(t, want, exit.CodeOf(err), status)
		require.True(t, connect.Is(err, status))
		require.ErrorContains(t, err, "What is wrong.\n  region: it is not allowed. Accepted: us-east-1, eu-west-1.")
	}
}

func TestWhatIsNoServerOfOursIsSaid(t *testing.T) {
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		text   string
	}{
		"a sign-in page": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "https://login.example.com/?state=secret", http.StatusFound)
		}, "redirects to https://login.example.com/, which an ocpctl server does not do"},
		"a web server": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(404) }, "answered 404 Not Found, which is not a response of an ocpctl server"},
		"a page":       {func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>") }, "check that --server is an ocpctl server"},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(c.answer)
			t.Cleanup(server.Close)
			api, _ := dial(t, tokenFile(t, server.URL, "x"), nil)
			err := me(api)
			require.ErrorContains(t, err, c.text)
			require.NotContains(t, err.Error(), "secret")
		})
	}
}

func TestTracesNameNoSecret(t *testing.T) {
	s := standtest.New(t)
	var trace bytes.Buffer
	api, err := connect.Open(tokenFile(t, s.URL, standtest.Token), connect.Options{
		Env: os.Getenv, Now: time.Now, Trace: func(format string, args ...any) { fmt.Fprintf(&trace, format+"\n", args...) },
	})
	require.NoError(t, err)
	_, err = connect.Body(api.RedeemLink(context.Background(), "very-secret", v1.Redeem{}))
	require.NoError(t, err)
	require.Contains(t, trace.String(), "POST /api/v1/links/***: 200 OK in ")
	require.NotContains(t, trace.String(), standtest.Token)
}

func TestEventsAreReadToTheirEnd(t *testing.T) {
	stream := io.NopCloser(strings.NewReader(": comment\n\nevent: log\ndata: one\ndata: two\n\ndata: bare\nid: 7\n\nevent: log\ndata:"))
	var seen []connect.Event
	err := connect.Events(stream, time.Minute, func(e connect.Event) error {
		seen = append(seen, e)
		return nil
	})
	require.ErrorContains(t, err, "the server ended it")
	require.Equal(t, []connect.Event{{Name: "log", Data: "one\ntwo"}, {Data: "bare"}}, seen)

	enough := errors.New("enough")
	require.ErrorIs(t, connect.Events(io.NopCloser(strings.NewReader("data: x\n\ndata: y\n\n")), time.Minute, func(connect.Event) error { return enough }), enough)
	silent, _ := io.Pipe()
	require.ErrorContains(t, connect.Events(silent, time.Millisecond, nil), "nothing received for 0 s")
}
