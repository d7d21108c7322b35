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
	metadataFresh    = time.Hour   // how long metadata is used without a refresh
	metadataPatience = time.Minute // minimum time between two refreshes caused by a bad signature
	metadataLimit    = 1 << 20
)

// provider is what is known about the identity provider: its keys and its sign-in URL. The last metadata is used until its own
// expiry, so that an outage of an hour keeps nobody out.
type provider struct {
	source string // a URL or a file
	client *http.Client
	now    func() time.Time

	mu    sync.Mutex // held during a refresh: all others wait for the same response
	known *crewjam.EntityDescriptor
	asked time.Time // when it last responded or was last asked
}

func newProvider(source string, timeout time.Duration, now func() time.Time) *provider {
	return &provider{source: source, now: now, client: &http.Client{
		Timeout: timeout, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// ProviderEntity reads an identity provider's metadata, a URL or a file, and returns the provider's entity id and when the metadata
// expires (zero: never). An error says why nobody could sign in with it.
func ProviderEntity(ctx context.Context, source string) (entity string, until time.Time, err error) {
	found, err := newProvider(source, timeoutOrDefault(0), time.Now).getMetadata(ctx)
	if err != nil {
		return "", time.Time{}, err
	}
	return found.EntityID, found.ValidUntil, nil
}

// getMetadata returns the metadata, refreshed if it is older than an hour.
func (p *provider) getMetadata(ctx context.Context) (*crewjam.EntityDescriptor, error) {
	return p.atMost(ctx, metadataFresh)
}

// renewMetadata returns the metadata after a refresh, unless there just was one: the provider may have a new key. Callers cannot cause more
// than one refresh a minute.
func (p *provider) renewMetadata(ctx context.Context) (*crewjam.EntityDescriptor, error) {
	return p.atMost(ctx, metadataPatience)
}

func (p *provider) atMost(ctx context.Context, age time.Duration) (*crewjam.EntityDescriptor, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	if p.known == nil || now.Sub(p.asked) >= age {
		found, err := p.fetchMetadata(ctx)
		if err == nil {
			p.known, p.asked = found, now
		} else if p.known == nil {
			return nil, err
		} else {
			p.asked = now.Add(metadataPatience - metadataFresh) // retry soon, but not with every sign-in
		}
	}
	if until := p.known.ValidUntil; !until.IsZero() && now.After(until) {
		return nil, fmt.Errorf("the metadata of %s expired at %s", p.source, until.UTC().Format(time.RFC3339))
	}
	return p.known, nil
}

func (p *provider) fetchMetadata(ctx context.Context) (*crewjam.EntityDescriptor, error) {
	raw, err := p.readMetadata(context.WithoutCancel(ctx)) // the first caller may disconnect; the others still wait
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

func (p *provider) readMetadata(ctx context.Context) ([]byte, error) {
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

// ssoAddress returns the URL to which people are sent to sign in.
func ssoAddress(p *crewjam.EntityDescriptor) string {
	return (&crewjam.ServiceProvider{IDPMetadata: p}).GetSSOBindingLocation(crewjam.HTTPRedirectBinding)
}
