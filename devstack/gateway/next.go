package gateway

import (
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"net/url"
	"os"

	"github.com/ocpctl/ocpctl/devstack/must"
)

// Next is the gateway behind this one.
type Next struct {
	proxy *url.URL
	roots *x509.CertPool
}

// NextFromEnvironment is the gateway to which the variables of Environment lead.
func NextFromEnvironment() (_ *Next, err error) {
	defer must.Catch(&err)
	address, ca := os.Getenv("HTTPS_PROXY"), os.Getenv("SSL_CERT_FILE")
	must.FailIf(address == "" || ca == "", "HTTPS_PROXY and SSL_CERT_FILE must lead to the gateway of the stand-in clouds")
	proxy, err := url.Parse(address)
	must.Wrap(err, "read HTTPS_PROXY")
	raw, err := os.ReadFile(ca)
	must.Wrap(err, "read SSL_CERT_FILE")
	n := &Next{proxy: proxy, roots: x509.NewCertPool()}
	must.FailIf(!n.roots.AppendCertsFromPEM(raw), "%s has no certificate", ca)
	return n, nil
}

// transport reaches the next gateway, or without one the stand-ins.
func (n *Next) transport() http.RoundTripper {
	if n == nil {
		return nil // the default one
	}
	return &http.Transport{Proxy: http.ProxyURL(n.proxy), TLSClientConfig: &tls.Config{RootCAs: n.roots, MinVersion: tls.VersionTLS12}, MaxIdleConnsPerHost: 8}
}
