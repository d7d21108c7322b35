package connect

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/smithy-go/logging"

	"github.com/ocpctl/ocpctl/app/api/client"
	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/app/auth/awsproof"
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

// getBearer returns the token to send. With again, the last one was refused and another one is needed; ok is false if there is none.
func (k *keeper) getBearer(ctx context.Context, again bool) (text string, ok bool, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	old := k.token.text
	holds := old != "" && (k.token.expires.IsZero() || k.now().Add(early).Before(k.token.expires))
	if holds && !again {
		return old, true, nil
	}
	fresh, err := k.get(ctx)
	var said *exit.Error
	if errors.As(err, &said) { // it says what to do
		return "", false, err
	}
	if err != nil {
		return "", false, exit.With(exit.Denied, fmt.Errorf("sign in: %w\nSee ocpctl login --help for the sign-in methods", err))
	}
	if fresh.expires.IsZero() {
		fresh.expires = readExpiry(fresh.text)
	}
	k.token = fresh
	return fresh.text, fresh.text != old, nil
}

// readExpiry reads when a JWT expires; zero if it is not a JWT. The value only determines when to get a new token.
func readExpiry(jwt string) time.Time {
	var claims struct {
		Exp float64 `json:"exp"`
	}
	if !readClaims(jwt, &claims) || claims.Exp <= 0 {
		return time.Time{}
	}
	return time.Unix(int64(claims.Exp), 0)
}

// readClaims reads the claims of a JWT without verifying it, and reports whether it is one.
func readClaims(jwt string, into any) bool {
	parts := strings.Split(jwt, ".")
	if len(parts) != 3 {
		return false
	}
	raw, err := base64.RawURLEncoding.DecodeString(parts[1])
	return err == nil && json.Unmarshal(raw, into) == nil
}

// checkAudience returns tokens of a source that may be sent to a server. A JWT whose audiences are addresses of other servers is refused: this
// server could use it there. An audience that is no address is a name on which its issuer and the server agreed.
func checkAudience(server, audience string, get source) source {
	return func(ctx context.Context) (token, error) {
		got, err := get(ctx)
		if err != nil {
			return token{}, err
		}
		var claims struct {
			Audiences audiences `json:"aud"`
		}
		if !readClaims(got.text, &claims) || len(claims.Audiences) == 0 || slices.ContainsFunc(claims.Audiences, func(a string) bool {
			return isSameServer(a, server) || a == audience || !strings.Contains(a, "://")
		}) {
			return got, nil
		}
		return token{}, exit.With(exit.Denied, fmt.Errorf("the token is for %s, so it was not sent to %s. Use a token that was issued for this server, or check the address in "+
			"--server or OCPCTL_SERVER", strings.Join(claims.Audiences, " and "), server))
	}
}

// audiences are a JWT's, which may be one text.
type audiences []string

func (a *audiences) UnmarshalJSON(raw []byte) error {
	var one string
	if json.Unmarshal(raw, &one) == nil {
		*a = audiences{one}
		return nil
	}
	return json.Unmarshal(raw, (*[]string)(a))
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

// noToken says why a job cannot request a token, and what to do.
func noToken(env func(string) string) error {
	switch {
	case env("GITHUB_ACTIONS") == "":
		return errors.New("this is not a job of GitHub Actions, so there is no token to request")
	case fromFork(env):
		return errors.New("this job runs for a pull request from a fork, and GitHub gives such a job no token. Ask a maintainer to set the label ocp/<profile> or to " +
			"comment /ocp create on the pull request: once they have approved the commit, the pull request has a cluster. Or push the branch to the repository itself")
	}
	return errors.New("GitHub gave this job no token to sign in with; give the job `permissions: {id-token: write}`")
}

// mostEvent is the largest event that is read.
const mostEvent = 8 << 20

// fromFork reports whether the event of a job is a pull request from another repository.
// https://docs.github.com/actions/reference/workflows-and-actions/variables
func fromFork(env func(string) string) bool {
	file, err := os.Open(env("GITHUB_EVENT_PATH"))
	if err != nil {
		return false
	}
	defer file.Close()
	var event struct {
		PullRequest struct {
			Head struct {
				Repo *struct {
					FullName string `json:"full_name"`
				}
			}
		} `json:"pull_request"`
	}
	if err := json.NewDecoder(io.LimitReader(file, mostEvent)).Decode(&event); err != nil {
		return false
	}
	repo := event.PullRequest.Head.Repo
	return repo != nil && repo.FullName != "" && !strings.EqualFold(repo.FullName, env("GITHUB_REPOSITORY"))
}

// fromAWS signs an STS request with the credentials of the SDK's own chain and exchanges it at the server. The credentials themselves
// are never sent.
func fromAWS(c Context, server *client.Client) source {
	return func(ctx context.Context) (token, error) {
		options := []func(*config.LoadOptions) error{config.WithLogger(logging.Nop{})} // problems come back as errors
		if c.AWSProfile != "" {
			options = append(options, config.WithSharedConfigProfile(c.AWSProfile))
		}
		if c.AWSRegion != "" {
			options = append(options, config.WithRegion(c.AWSRegion))
		}
		cfg, err := config.LoadDefaultConfig(ctx, options...)
		if err != nil {
			return token{}, fmt.Errorf("read the AWS configuration: %w", err)
		}
		proof, err := awsproof.Sign(ctx, cfg, c.proofAudience())
		if err != nil {
			return token{}, fmt.Errorf("%w\nCheck your credentials with `aws sts get-caller-identity`; `aws sso login` or AWS_PROFILE usually fixes it", err)
		}
		answer, err := Read[v1.SessionToken](server.SignInWithAWS(ctx, v1.AWSProof{URL: proof.URL, Headers: proof.Headers}))
		if err != nil {
			return token{}, err
		}
		if answer.Value.Token == "" {
			return token{}, errors.New("the server's response contains no token")
		}
		return token{text: answer.Value.Token, expires: answer.Value.ExpiresAt}, nil
	}
}
