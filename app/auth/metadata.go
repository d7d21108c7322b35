package auth

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	crewjam "github.com/crewjam/saml"
	"github.com/crewjam/saml/samlsp"
)

const (
	metadataFresh    = time.Hour   // as long an answer is good
	metadataPatience = time.Minute // least time between two questions that a bad signature leads to
	metadataLimit    = 1 << 20
)

// provider is what is known of the identity provider: its keys and where it signs people in. What was known last is good
// as long as it says itself, so that an hour without answers keeps nobody out.
type provider struct {
	source string // an address, or a file
	client *http.Client
	now    func() time.Time

	mu    sync.Mutex // held while it is asked: everybody else waits for the same answer
	known *crewjam.EntityDescriptor
	asked time.Time // when it last answered or was last asked
}

func newProvider(source string, timeout time.Duration, now func() time.Time) *provider {
	return &provider{source: source, now: now, client: &http.Client{
		Timeout: timeout, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// get is what is known, asked again when it is older than an hour.
func (p *provider) get(ctx context.Context) (*crewjam.EntityDescriptor, error) {
	return p.atMost(ctx, metadataFresh)
}

// renewed is what is known, asked again unless that was just done: the provider may have a new key. Nobody can make us
// ask more than once a minute.
func (p *provider) renewed(ctx context.Context) (*crewjam.EntityDescriptor, error) {
	return p.atMost(ctx, metadataPatience)
}

func (p *provider) atMost(ctx context.Context, age time.Duration) (*crewjam.EntityDescriptor, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	if p.known == nil || now.Sub(p.asked) >= age {
		found, err := p.ask(ctx)
		if err == nil {
			p.known, p.asked = found, now
		} else if p.known == nil {
			return nil, err
		} else {
			p.asked = now.Add(metadataPatience - metadataFresh) // soon, and not with every sign-in
		}
	}
	if until := p.known.ValidUntil; !until.IsZero() && now.After(until) {
		return nil, fmt.Errorf("the metadata of %s expired at %s", p.source, until.UTC().Format(time.RFC3339))
	}
	return p.known, nil
}

func (p *provider) ask(ctx context.Context) (*crewjam.EntityDescriptor, error) {
	raw, err := p.read(context.WithoutCancel(ctx)) // the person who asked first may go; the others wait on
	if err != nil {
		return nil, fmt.Errorf("read the identity provider's metadata %s: %w", p.source, err)
	}
	found, err := samlsp.ParseMetadata(raw)
	if err != nil {
		return nil, fmt.Errorf("read the identity provider's metadata %s: %w", p.source, err)
	}
	switch {
	case len(found.IDPSSODescriptors) == 0:
		err = errors.New("it does not describe an identity provider")
	case ssoAddress(found) == "":
		err = errors.New("it has no sign-in address for HTTP-Redirect")
	}
	if err != nil {
		return nil, fmt.Errorf("the identity provider's metadata %s: %w", p.source, err)
	}
	return found, nil
}

func (p *provider) read(ctx context.Context) ([]byte, error) {
	if !strings.HasPrefix(p.source, "http://") && !strings.HasPrefix(p.source, "https://") {
		return os.ReadFile(p.source)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, p.source, nil)
	if err != nil {
		return nil, err
	}
	answer, err := p.client.Do(r)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the response was %s", answer.Status)
	}
	return io.ReadAll(io.LimitReader(answer.Body, metadataLimit))
}

// ssoAddress is where people are sent to sign in.
func ssoAddress(p *crewjam.EntityDescriptor) string {
	return (&crewjam.ServiceProvider{IDPMetadata: p}).GetSSOBindingLocation(crewjam.HTTPRedirectBinding)
}
