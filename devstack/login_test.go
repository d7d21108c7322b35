package devstack_test

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/http/cookiejar"
	"time"

	"github.com/ocpctl/ocpctl/devstack"
)

// browserFor returns a browser for which all names lead here, and numbers where they always do.
func browserFor(l *devstack.Login) *http.Client {
	jar, _ := cookiejar.New(nil) // never fails
	dialer := &net.Dialer{Timeout: 10 * time.Second}
	return &http.Client{Jar: jar, Timeout: time.Minute, Transport: &http.Transport{
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, // a stand-in's certificate
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			if host, _, _ := net.SplitHostPort(address); net.ParseIP(host) != nil {
				return dialer.DialContext(ctx, network, address)
			}
			return dialer.DialContext(ctx, network, l.Address)
		},
	}}
}
