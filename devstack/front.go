package devstack

import (
	"context"
	"encoding/pem"
	"io"
	"log"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
)

// startFront puts a proxy that terminates TLS before the pages of a stack whose clusters sign readers in through them: OpenShift takes an OpenID
// provider over https alone.
func (h *Stack) startFront(context.Context) error {
	if !h.OpenID {
		return nil
	}
	to := &url.URL{Scheme: "http", Host: addr(h.Ports.Private)}
	h.front = httptest.NewTLSServer(&httputil.ReverseProxy{
		Rewrite:  func(r *httputil.ProxyRequest) { r.SetURL(to); r.SetXForwarded() },
		ErrorLog: log.New(io.Discard, "", 0), // errors until the server listens
	})
	if err := os.MkdirAll(h.Dir, 0o700); err != nil {
		return err
	}
	return os.WriteFile(h.path("pages-ca.pem"), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: h.front.Certificate().Raw}), 0o600)
}

// PagesURL is the URL of the pages for people.
func (h *Stack) PagesURL() string {
	if h.front != nil {
		return h.front.URL
	}
	return h.PrivateURL()
}
