// Package gateway is an HTTPS proxy on this machine that sends the real host names of AWS and IBM Cloud to the stand-ins, so that any
// program of a cloud (openshift-install, ccoctl, a janitor, an SDK of another language) runs against them without an endpoint of its own.
// It ends TLS with certificates of an authority that it makes at its start, and refuses every other host by its name.
package gateway

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"sync"

	"github.com/ocpctl/ocpctl/devstack/listen"
	"github.com/ocpctl/ocpctl/devstack/must"
)

// Config configures the gateway. The URLs are base addresses without a path; a host whose stand-in has no URL is refused.
type Config struct {
	Addr     string            // 127.0.0.1:0
	Dir      string            // where the authority's certificate is stored
	AWS      string            // of the stand-in AWS
	S3       string            // of the S3 server; it serves buckets by path and by virtual host
	S3In     map[string]string // of S3 in other regions, by region
	IBMCloud string            // of the stand-in IBM Cloud
	Next     *Next             // another gateway to which everything goes instead; nil: to the stand-ins
	Log      *slog.Logger

	// Tunnel returns the address on this machine of a host and port that speaks for itself, as a cluster's API does; false: it does not know
	// it. An error answers for a host that cannot be reached yet. nil: there is none.
	Tunnel func(hostPort string) (addr string, known bool, err error)

	// Wrote is called after each successful write to a cloud, before its answer is passed on; nil: nobody asks.
	Wrote func(service, action string)
}

// Server is the running gateway.
type Server struct {
	cfg   Config
	ca    *authority
	addr  string
	inner *tunnels
	stops []func() error

	running context.Context // ends with Stop
}

// Start serves until Stop is called or ctx ends.
func Start(ctx context.Context, cfg Config) (_ *Server, err error) {
	defer must.Catch(&err)
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	s := &Server{cfg: cfg, ca: must.Get(newAuthority())}
	must.Wrap(s.ca.writeTo(s.CAFile()), "store the gateway's certificate")
	listener := must.Get(listen.On(ctx, cfg.Addr, "the gateway"))
	s.addr = listener.Addr().String()
	s.inner = &tunnels{conns: make(chan net.Conn), done: make(chan struct{}), addr: listener.Addr()}
	secure := tls.NewListener(s.inner, &tls.Config{GetCertificate: s.ca.certificateFor, NextProtos: []string{"http/1.1"}, MinVersion: tls.VersionTLS12})
	running, end := context.WithCancel(ctx)
	s.running = running
	s.stops = append(s.stops, func() error { end(); return nil }, listen.Serve(ctx, listener, http.HandlerFunc(s.connect), "the gateway"),
		listen.Serve(ctx, secure, s.forward(), "the gateway's hosts"))
	return s, nil
}

// Stop cuts all connections.
func (s *Server) Stop() (err error) {
	for _, stop := range s.stops {
		err = errors.Join(err, stop())
	}
	return err
}

// URL is the value for HTTPS_PROXY.
func (s *Server) URL() string { return "http://" + s.addr }

// CAFile is the file with the certificate that a program has to trust.
func (s *Server) CAFile() string { return filepath.Join(s.cfg.Dir, "gateway-ca.pem") }

// Environment are the variables that send a program through the gateway. It may still reach this machine directly.
func (s *Server) Environment() []string {
	return []string{
		"HTTPS_PROXY=" + s.URL(), "https_proxy=" + s.URL(), "NO_PROXY=127.0.0.1,localhost", "no_proxy=127.0.0.1,localhost",
		"AWS_CA_BUNDLE=" + s.CAFile(), "SSL_CERT_FILE=" + s.CAFile(), "NODE_EXTRA_CA_CERTS=" + s.CAFile(),
	}
}

// Client is a client that sends everything through the gateway, as a program with Environment does.
func (s *Server) Client() *http.Client {
	roots := x509.NewCertPool()
	roots.AddCert(s.ca.cert)
	return &http.Client{Transport: &http.Transport{
		Proxy: http.ProxyURL(&url.URL{Scheme: "http", Host: s.addr}), TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12},
	}}
}

// connect opens a tunnel to a host that a stand-in plays.
func (s *Server) connect(w http.ResponseWriter, r *http.Request) {
	host, port, err := net.SplitHostPort(r.Host)
	if r.Method != http.MethodConnect || err != nil {
		http.Error(w, "the gateway is a proxy for https alone: ask it to CONNECT to a host and port 443", http.StatusMethodNotAllowed)
		return
	}
	if s.cfg.Tunnel != nil {
		if addr, known, err := s.cfg.Tunnel(r.Host); known {
			s.splice(w, addr, err)
			return
		}
	}
	if _, known := s.find(host); !known || port != "443" {
		s.cfg.Log.Warn("the gateway refused a host", "host", host, "port", port)
		http.Error(w, fmt.Sprintf("the gateway refuses %s: it knows the hosts of AWS and IBM Cloud at port 443", r.Host), http.StatusForbidden)
		return
	}
	conn, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	if _, err := io.WriteString(conn, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		_ = conn.Close() // the client is gone
		return
	}
	s.inner.add(&tunnel{Conn: conn, first: buffered.Reader})
}

// splice connects the client with an address, whose TLS is not ended here.
func (s *Server) splice(w http.ResponseWriter, addr string, err error) {
	var far net.Conn
	if err == nil {
		far, err = (&net.Dialer{}).DialContext(s.running, "tcp", addr)
	}
	if err != nil {
		http.Error(w, "the gateway: "+err.Error(), http.StatusBadGateway)
		return
	}
	defer far.Close()
	near, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	defer context.AfterFunc(s.running, func() { _ = near.Close(); _ = far.Close() })()
	defer near.Close()
	if _, err := io.WriteString(near, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		return // the client is gone
	}
	go func() {
		_, _ = io.Copy(far, buffered)
		_ = far.Close() // which ends the other direction too
	}()
	_, _ = io.Copy(near, far) // it ends with either side
}

// forward sends a request to the stand-in of its host. The Host header stays, because it is signed.
func (s *Server) forward() http.Handler {
	proxy := &httputil.ReverseProxy{
		Transport: s.cfg.Next.transport(), ModifyResponse: s.noteWrite,
		Rewrite: func(p *httputil.ProxyRequest) {
			host, _, err := net.SplitHostPort(p.In.Host)
			if err != nil {
				host = p.In.Host
			}
			to, _ := s.find(host)                                                                           // a host without a stand-in has no target, which is answered as an error
			if s.cfg.Next == nil && s3Host.MatchString(host) && p.In.URL.Query().Has("publicAccessBlock") { // the S3 server has none
				to, _ = at(s.cfg.AWS, target{})
			}
			to.apply(p.Out)
			p.Out.Host = p.In.Host
			if s.cfg.Wrote != nil {
				p.Out = withCall(p.Out, host)
			}
		},
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			s.cfg.Log.Warn("the gateway could not forward a request", "host", r.Host, "path", r.URL.Path, "err", err)
			http.Error(w, "the gateway: "+err.Error(), http.StatusBadGateway)
		},
		FlushInterval: -1,
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// Otherwise the first byte of an answer closes the request's body, and the transport cuts an answer off that came before it had
		// read that body's end.
		_ = http.NewResponseController(w).EnableFullDuplex() // HTTP/1 has it
		proxy.ServeHTTP(w, r)
	})
}

// tunnel is a connection whose first bytes may have been read already.
type tunnel struct {
	net.Conn
	first io.Reader
}

func (t *tunnel) Read(p []byte) (int, error) { return t.first.Read(p) }

// tunnels is a listener that hands out the connections of tunnels.
type tunnels struct {
	conns chan net.Conn
	addr  net.Addr
	once  sync.Once
	done  chan struct{}
}

func (t *tunnels) add(conn net.Conn) {
	select {
	case t.conns <- conn:
	case <-t.done:
		_ = conn.Close() // nobody serves it
	}
}

func (t *tunnels) Accept() (net.Conn, error) {
	select {
	case conn := <-t.conns:
		return conn, nil
	case <-t.done:
		return nil, net.ErrClosed
	}
}

func (t *tunnels) Close() error {
	t.once.Do(func() { close(t.done) })
	return nil
}

func (t *tunnels) Addr() net.Addr { return t.addr }
