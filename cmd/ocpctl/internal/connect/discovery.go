package connect

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync"

	"github.com/ocpctl/ocpctl/internal/buildinfo"
)

// discoveryPath is where a server publishes its version. It also publishes which tokens it accepts, which is not read: a false server
// could ask for a token for another one.
const discoveryPath = "/.well-known/ocpctl"

// Release is what a server says about its own version. Both are empty for a server from before they were published.
type Release struct {
	Version      string `json:"version"`
	OldestClient string `json:"oldestClient"` // the oldest ocpctl that it works with
}

// discoverer asks a server once for its document.
type discoverer struct {
	server string
	send   *retrier
	mu     sync.Mutex
	said   *Release
}

// getRelease returns the document. An older server answers 404, and the document is empty.
func (d *discoverer) getRelease(ctx context.Context) (Release, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.said != nil {
		return *d.said, nil
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, d.server+discoveryPath, nil)
	if err != nil {
		return Release{}, err
	}
	res, err := d.send.Do(r)
	if err != nil {
		return Release{}, fmt.Errorf("ask the server what it accepts: %w", err)
	}
	defer res.Body.Close()
	var said Release
	switch res.StatusCode {
	case http.StatusNotFound:
	case http.StatusOK:
		if err := json.NewDecoder(io.LimitReader(res.Body, mostAnswer)).Decode(&said); err != nil {
			return said, fmt.Errorf("ask the server what it accepts: %s%s is not a JSON object", d.server, discoveryPath)
		}
	default:
		return said, fmt.Errorf("ask the server what it accepts: the response was %s", res.Status)
	}
	d.said = &said
	return said, nil
}

// Release asks the server for its version, without signing in.
func (a *API) Release(ctx context.Context) (Release, error) {
	return a.discover(ctx)
}

// WorksWith returns what to do if a client of this version and the server cannot be expected to understand each other. Builds that are
// no releases are not compared.
func (r Release) WorksWith(client string) error {
	switch {
	case buildinfo.IsRelease(r.OldestClient) && buildinfo.Older(client, r.OldestClient):
		return fmt.Errorf("this is ocpctl %s, but the server is %s and needs ocpctl %s or later. Update ocpctl", client, r.Version, r.OldestClient)
	case buildinfo.Older(r.Version, buildinfo.OldestServer):
		return fmt.Errorf("the server is %s, but this ocpctl (%s) needs a server of %s or later. Use ocpctl %s, or ask the administrators to update the server",
			r.Version, client, buildinfo.OldestServer, r.Version)
	}
	return nil
}
