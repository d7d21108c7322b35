package gateway

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
)

// Next is the gateway behind this one.
type Next struct {
	proxy *url.URL
	roots *x509.CertPool
}

// NextFromEnvironment is the gateway to which the variables of Environment lead.
func NextFromEnvironment() (*Next, error) {
	address, ca := os.Getenv("HTTPS_PROXY"), os.Getenv("SSL_CERT_FILE")
	if address == "" || ca == "" {
		return nil, errors.New("HTTPS_PROXY and SSL_CERT_FILE must lead to the gateway of the stand-in clouds")
	}
	proxy, err := url.Parse(address)
	if err != nil {
		return nil, fmt.Errorf("read HTTPS_PROXY: %w", err)
	}
	raw, err := os.ReadFile(ca)
	if err != nil {
		return nil, fmt.Errorf("read SSL_CERT_FILE: %w", err)
	}
	n := &Next{proxy: proxy, roots: x509.NewCertPool()}
	if !n.roots.AppendCertsFromPEM(raw) {
		return nil, fmt.Errorf("%s has no certificate", ca)
	}
	return n, nil
}

// transport reaches the next gateway, or without one the stand-ins.
func (n *Next) transport() http.RoundTripper {
	if n == nil {
		return nil // the default one
	}
	return &http.Transport{Proxy: http.ProxyURL(n.proxy), TLSClientConfig: &tls.Config{RootCAs: n.roots, MinVersion: tls.VersionTLS12}, MaxIdleConnsPerHost: 8}
}
