package connect

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/exit"
)

// token authenticates us. It prints as ***.
type token struct {
	text    string
	expires time.Time // zero: unknown
}

func (token) String() string   { return "***" }
func (token) GoString() string { return "***" }

// source returns a valid token each time it is called, possibly a new one.
type source func(ctx context.Context) (token, error)

// keeper keeps a token in memory until shortly before it expires.
type keeper struct {
	get   source
	now   func() time.Time
	mu    sync.Mutex
	token token
}

// early is how long before its expiry a token is replaced.
const early = 30 * time.Second

// bearer returns the token to send. With again, the last one was refused and another one is needed; ok is false if there is none.
func (k *keeper) bearer(ctx context.Context, again bool) (text string, ok bool, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	old := k.token.text
	holds := old != "" && (k.token.expires.IsZero() || k.now().Add(early).Before(k.token.expires))
	if holds && !again {
		return old, true, nil
	}
	fresh, err := k.get(ctx)
	if errors.Is(err, errNoJob) {
		return "", false, exit.With(exit.Denied, fmt.Errorf("sign in: %w", err))
	}
	if err != nil {
		return "", false, exit.With(exit.Denied, fmt.Errorf("sign in: %w\nSee ocpctl login --help for the sign-in methods", err))
	}
	if fresh.expires.IsZero() {
		fresh.expires = expiry(fresh.text)
	}
	k.token = fresh
	return fresh.text, fresh.text != old, nil
}

// expiry reads when a JWT expires; zero if it is not a JWT. The value only determines when to get a new token.
func expiry(jwt string) time.Time {
	parts := strings.Split(jwt, ".")
	if len(parts) != 3 {
		return time.Time{}
	}
	raw, err := base64.RawURLEncoding.DecodeString(parts[1])
	var claims struct {
		Exp float64 `json:"exp"`
	}
	if err != nil || json.Unmarshal(raw, &claims) != nil || claims.Exp <= 0 {
		return time.Time{}
	}
	return time.Unix(int64(claims.Exp), 0)
}

// fromText parses a token from a text.
func fromText(raw []byte, from string) (token, error) {
	text := strings.TrimSpace(string(raw))
	if text == "" {
		return token{}, fmt.Errorf("%s contains no token", from)
	}
	if strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return token{}, fmt.Errorf("%s contains more than a token; it must contain only the token", from)
	}
	return token{text: text}, nil
}

func fromEnvironment(env func(string) string) source {
	return func(context.Context) (token, error) { return fromText([]byte(env("OCPCTL_TOKEN")), "OCPCTL_TOKEN") }
}

// fromFile reads the file each time, because something else renews it.
func fromFile(path string) source {
	return func(context.Context) (token, error) {
		raw, err := os.ReadFile(path)
		if err != nil {
			return token{}, fmt.Errorf("read the token file: %w", err)
		}
		return fromText(raw, path)
	}
}

// commandTime limits a token command: one that waits for input would wait for ever.
const commandTime = time.Minute

func fromCommand(line string, stderr io.Writer) source {
	return func(ctx context.Context) (token, error) {
		ctx, cancel := context.WithTimeout(ctx, commandTime)
		defer cancel()
		var out bytes.Buffer
		cmd := exec.CommandContext(ctx, "sh", "-c", line)
		cmd.Stdout, cmd.Stderr, cmd.WaitDelay = &out, stderr, time.Second
		if err := cmd.Run(); err != nil {
			return token{}, fmt.Errorf("run the token command %q: %w", line, err)
		}
		return fromText(out.Bytes(), "the output of the token command")
	}
}

// errNoJob says what to do without a token of GitHub Actions. See
// https://docs.github.com/en/actions/reference/security/oidc and docs/actions.md.
var errNoJob = errors.New("this is not a GitHub Actions job that may request a token; give the job `permissions: {id-token: write}`. " +
	"GitHub gives no token to pull requests from forks: there, a maintainer asks for the cluster with a label and approves it with /ocp approve")

// fromGitHub requests the job's own token from GitHub Actions, for the audience that the function returns.
func fromGitHub(audience func(context.Context) (string, error), env func(string) string, send *retrier) source {
	return func(ctx context.Context) (token, error) {
		address, secret := env("ACTIONS_ID_TOKEN_REQUEST_URL"), env("ACTIONS_ID_TOKEN_REQUEST_TOKEN")
		if address == "" || secret == "" {
			return token{}, errNoJob
		}
		u, err := url.Parse(address)
		if err != nil {
			return token{}, errors.New("ACTIONS_ID_TOKEN_REQUEST_URL is not a valid address")
		}
		whom, err := audience(ctx)
		if err != nil {
			return token{}, err
		}
		query := u.Query()
		query.Set("audience", whom)
		u.RawQuery = query.Encode()
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
		if err != nil {
			return token{}, err
		}
		r.Header.Set("Authorization", "Bearer "+secret)
		res, err := send.Do(r)
		if err != nil {
			return token{}, fmt.Errorf("ask GitHub Actions for a token: %w", err)
		}
		defer res.Body.Close()
		var said struct{ Value string }
		if err := json.NewDecoder(io.LimitReader(res.Body, mostAnswer)).Decode(&said); err != nil || res.StatusCode != http.StatusOK {
			return token{}, fmt.Errorf("ask GitHub Actions for a token: the response was %s", res.Status)
		}
		return fromText([]byte(said.Value), "the response of GitHub Actions")
	}
}
