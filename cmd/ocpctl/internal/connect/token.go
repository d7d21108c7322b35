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

// token is what proves who asks. It prints as ***.
type token struct {
	text    string
	expires time.Time // zero: not known
}

func (token) String() string   { return "***" }
func (token) GoString() string { return "***" }

// source gives a token as often as it is asked; each is a new one or one that still holds.
type source func(ctx context.Context) (token, error)

// keeper holds a token in memory until shortly before its end.
type keeper struct {
	get   source
	now   func() time.Time
	mu    sync.Mutex
	token token
}

// early is how long before its end a token is replaced.
const early = 30 * time.Second

// bearer gives the token to send. With again, the last one was refused and another is wanted; ok is false where there is
// no other.
func (k *keeper) bearer(ctx context.Context, again bool) (text string, ok bool, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	old := k.token.text
	holds := old != "" && (k.token.expires.IsZero() || k.now().Add(early).Before(k.token.expires))
	if holds && !again {
		return old, true, nil
	}
	fresh, err := k.get(ctx)
	if err != nil {
		return "", false, exit.With(exit.Denied, fmt.Errorf("sign in: %w\nSee ocpctl login --help for the sign-in methods", err))
	}
	if fresh.expires.IsZero() {
		fresh.expires = expiry(fresh.text)
	}
	k.token = fresh
	return fresh.text, fresh.text != old, nil
}

// expiry reads when a JWT ends; zero when it is none. Nothing is believed of it but when to ask for another.
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

// fromText takes a token as somebody wrote it.
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

// fromFile reads the file each time: somebody else keeps it fresh.
func fromFile(path string) source {
	return func(context.Context) (token, error) {
		raw, err := os.ReadFile(path)
		if err != nil {
			return token{}, fmt.Errorf("read the token file: %w", err)
		}
		return fromText(raw, path)
	}
}

// commandTime bounds a token command: one that wants to ask somebody has no one to ask.
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

// fromGitHub asks GitHub Actions for the job's own token, for whom audience says.
func fromGitHub(audience func(context.Context, *http.Client) (string, error), env func(string) string, client *http.Client) source {
	return func(ctx context.Context) (token, error) {
		address, secret := env("ACTIONS_ID_TOKEN_REQUEST_URL"), env("ACTIONS_ID_TOKEN_REQUEST_TOKEN")
		if address == "" || secret == "" {
			return token{}, errors.New("this is not a GitHub Actions job that may request a token; give the job `permissions: {id-token: write}`")
		}
		u, err := url.Parse(address)
		if err != nil {
			return token{}, errors.New("ACTIONS_ID_TOKEN_REQUEST_URL is not a valid address")
		}
		whom, err := audience(ctx, client)
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
		res, err := client.Do(r)
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
