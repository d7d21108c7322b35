package doctor

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"time"

	"github.com/ocpctl/ocpctl/cmd/ocpctl-server/internal/config"
)

const (
	callTimeout = 10 * time.Second
	soonExpired = 14 * 24 * time.Hour // of a certificate
)

// getURL calls an address and discards the body.
func (d *doctor) getURL(ctx context.Context, address string) (*http.Response, error) {
	return getWith(ctx, d.http, address)
}

func getWith(ctx context.Context, client *http.Client, address string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	answer, err := client.Do(r)
	if err != nil {
		return nil, err
	}
	_, _ = io.Copy(io.Discard, io.LimitReader(answer.Body, 1<<20)) // only the headers matter
	return answer, answer.Body.Close()
}

// checkListeners checks that the addresses to listen on are free, or that a server already listens there.
func (d *doctor) checkListeners(ctx context.Context, f *findings) {
	if d.Roles.Has(config.HooksRole) {
		// The public listener takes only POST.
		d.checkListener(ctx, f, "public", "listen.public", d.Settings.Listen.Public, hookPath, http.StatusMethodNotAllowed)
	}
	if d.Roles.Has(config.APIRole) {
		d.checkListener(ctx, f, "private", "listen.private", d.Settings.Listen.Private, "/healthz", http.StatusOK)
	}
}

func (d *doctor) checkListener(ctx context.Context, f *findings, check, field, address, path string, want int) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err == nil {
		_ = listener.Close() // nothing was accepted
		f.ok(check, "%s is free", address)
		return
	}
	if !errors.Is(err, syscall.EADDRINUSE) {
		f.fail(check, "Correct "+field+" ("+d.Settings.Origin(field)+").", "%s", err)
		return
	}
	answer, err := d.getURL(ctx, "http://"+reachableAddress(address)+path)
	if err != nil || answer.StatusCode != want {
		f.fail(check, "Stop the program that listens there, or change "+field+" ("+d.Settings.Origin(field)+").", "%s is used by another program", address)
		return
	}
	f.ok(check, "a server listens on %s", address)
}

// reachableAddress replaces "every address" by one that can be called.
func reachableAddress(address string) string {
	host, port, err := net.SplitHostPort(address)
	if ip := net.ParseIP(host); err == nil && (host == "" || ip != nil && ip.IsUnspecified()) {
		return net.JoinHostPort("localhost", port)
	}
	return address
}

// checkPages checks that people reach the pages: the name, the certificate, the server behind it.
func (d *doctor) checkPages(ctx context.Context, f *findings) {
	address := strings.TrimSuffix(d.Settings.UIURL, "/")
	u, err := url.Parse(address)
	if err != nil {
		f.fail("address", "Correct ui_url.", "%s", err)
		return
	}
	if _, err := net.DefaultResolver.LookupHost(ctx, u.Hostname()); err != nil {
		f.fail("address", "Create the DNS record, or correct ui_url ("+d.Settings.Origin("ui_url")+").", "%s", err)
		return
	}
	if u.Scheme == "https" {
		d.checkCertificate(ctx, f, u)
	}
	answer, err := d.getURL(ctx, address+"/healthz")
	const next = "Start a server with the role api, and let the load balancer or ingress of ui_url lead to its private listener."
	switch {
	case err != nil:
		f.fail("address", next, "%s", err)
	case answer.StatusCode != http.StatusOK:
		f.fail("address", next, "%s/healthz answers %s", address, answer.Status)
	default:
		f.ok("address", "%s leads to a server", address)
	}
}

func (d *doctor) checkCertificate(ctx context.Context, f *findings, u *url.URL) {
	port := u.Port()
	if port == "" {
		port = "443"
	}
	dialer := tls.Dialer{NetDialer: &net.Dialer{Timeout: callTimeout}, Config: &tls.Config{ServerName: u.Hostname(), MinVersion: tls.VersionTLS12}}
	conn, err := dialer.DialContext(ctx, "tcp", net.JoinHostPort(u.Hostname(), port))
	var invalid *tls.CertificateVerificationError
	switch {
	case errors.As(err, &invalid):
		f.fail("certificate", "Renew it, or let it name "+u.Hostname()+"; a private CA must be trusted by browsers and by this machine.", "%s", err)
		return
	case err != nil:
		f.skip("certificate", "no TLS connection: %s", err)
		return
	}
	defer conn.Close()
	if chain := conn.(*tls.Conn).ConnectionState().PeerCertificates; len(chain) > 0 {
		d.checkExpiry(f, "certificate", u.Hostname(), chain[0])
	}
}

// checkExpiry says how long a certificate is valid.
func (d *doctor) checkExpiry(f *findings, check, whose string, c *x509.Certificate) {
	left := c.NotAfter.Sub(d.Now())
	days := fmt.Sprintf("%.0f days", left.Hours()/24)
	switch {
	case left <= 0:
		f.fail(check, "Renew it.", "the certificate of %s expired on %s", whose, c.NotAfter.UTC().Format(time.DateOnly))
	case left < soonExpired:
		f.warn(check, "Renew it.", "the certificate of %s expires in %s", whose, days)
	default:
		f.ok(check, "the certificate of %s is valid for %s", whose, days)
	}
}
