package main

import (
	"crypto/tls"
	"fmt"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/ocpctl/ocpctl/app/api"
	"github.com/ocpctl/ocpctl/cmd/ocpctl-server/internal/config"
	"github.com/ocpctl/ocpctl/internal/dispatch"
)

// wireRunners builds the listener for runners: the Status API and the probes with TLS, and nothing else. It is nil unless listen.runners is
// set.
func wireRunners(cfg config.Listen, rest http.Handler) (*http.Server, error) {
	if cfg.Runners == "" {
		return nil, nil
	}
	pair := &keyPair{cert: cfg.RunnersCertFile, key: cfg.RunnersKeyFile}
	if _, err := pair.currentCertificate(nil); err != nil {
		return nil, err
	}
	server := newListener(cfg.Runners, api.RunnersOnly(rest))
	server.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: pair.currentCertificate}
	return server, nil
}

// keyPair is a certificate and its key in files, which are read again when they change, so that a renewed certificate needs no restart.
type keyPair struct {
	cert, key string
	mu        sync.Mutex
	changed   time.Time
	pair      *tls.Certificate
}

// currentCertificate returns the certificate. If changed files cannot be read, the last one that could is used.
func (p *keyPair) currentCertificate(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	info, err := os.Stat(p.cert)
	if err == nil && p.pair != nil && info.ModTime().Equal(p.changed) {
		return p.pair, nil
	}
	pair, loadErr := tls.LoadX509KeyPair(p.cert, p.key)
	switch {
	case loadErr == nil && err == nil:
		p.pair, p.changed = &pair, info.ModTime()
	case p.pair == nil:
		return nil, fmt.Errorf("read listen.runners_cert_file and listen.runners_key_file: %w", loadErr)
	}
	return p.pair, nil
}

// runnerEnvironment returns what runners get from the configuration, with the CA of the Status API.
func runnerEnvironment(cfg config.Runner) ([]string, error) {
	env := cfg.Environment()
	if cfg.StatusCAFile == "" {
		return env, nil
	}
	ca, err := os.ReadFile(cfg.StatusCAFile)
	if err != nil {
		return nil, fmt.Errorf("read runner.status_ca_file: %w", err)
	}
	return append(env, dispatch.StatusCAVariable+"="+string(ca)), nil
}
