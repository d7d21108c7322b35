// Package hub is a stand-in of a Kubernetes cluster on which others are made: the API server's protocol for the kinds that ocpctl uses, without pods.
//
// It speaks TLS, knows service accounts' tokens, judges every request by RBAC with the rules of deploy/hub.yaml, refuses fields that Kubernetes does not
// know, and lets namespaces go as Kubernetes does: Terminating until nothing in them has a finalizer. It plays HyperShift's operator. It can be told to be away, to refuse tokens, and to
// hold what is deleted. What is not in this list does not exist here: watches, admission (pods' security, policies), quotas in force.
package hub

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/big"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ocpctl/ocpctl/devstack/file"
	"github.com/ocpctl/ocpctl/devstack/must"
)

// Config says where a hub is.
type Config struct {
	Addr      string        // host:port; port 0: a free one
	StatePath string        // empty: nothing is kept
	Delay     time.Duration // how long namespaces and volumes take to go, and each step of an operator
	Plain     bool          // it has no operator of HyperShift
}

// Hub is a running stand-in.
type Hub struct {
	cfg    Config
	ca     []byte
	url    string
	server *http.Server

	mu      sync.Mutex
	world   world
	away    time.Time // until then nothing is answered
	skips   [2]int    // the numbers of the first request and the one after the last that are not answered
	refuses bool      // tokens
	strike  func(method, path string)
	calls   int
	faults  map[string]string // messages, by condition

	guests string // where the stand-in oc asks for hosted clusters
	forOC  *http.Server
}

// world is everything that is kept.
type world struct {
	Key     []byte             // of the certificate
	Cert    []byte             // in DER
	Runner  string             // token of deploy/hub.yaml's service account
	Objects map[string]*stored // by path
	Tokens  map[string]token   // by themselves
	Guests  map[string]*guest  // hosted clusters, by the host of their API
	Last    int
}

// Start starts a hub with what deploy/hub.yaml applies.
func Start(_ context.Context, cfg Config) (h *Hub, err error) {
	defer must.Catch(&err)
	h = &Hub{cfg: cfg}
	must.Do(h.open())
	h.ca = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: h.world.Cert})
	key := must.Get(x509.ParseECPrivateKey(h.world.Key))
	listener := must.Get(net.Listen("tcp", cfg.Addr))
	h.url = "https://" + listener.Addr().String()
	h.server = &http.Server{
		Handler: h, ReadHeaderTimeout: 10 * time.Second,
		TLSConfig: &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{{Certificate: [][]byte{h.world.Cert}, PrivateKey: key}}},
	}
	go func() { _ = h.server.ServeTLS(listener, "", "") }() // ends with Stop
	own := must.Get(net.Listen("tcp", "127.0.0.1:0"))
	h.guests, h.forOC = "http://"+own.Addr().String(), &http.Server{Handler: http.HandlerFunc(h.serveGuests), ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = h.forOC.Serve(own) }() // likewise
	return h, nil
}

// Stop ends it.
func (h *Hub) Stop() error { return errors.Join(h.server.Close(), h.forOC.Close()) }

// open reads the state, or makes a new hub.
func (h *Hub) open() (err error) {
	defer must.Catch(&err)
	if h.cfg.StatePath != "" {
		raw, err := os.ReadFile(h.cfg.StatePath)
		if err == nil {
			return json.Unmarshal(raw, &h.world)
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	key := must.Get(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "stand-in hub"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().AddDate(1, 0, 0),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, DNSNames: []string{"localhost"},
	}
	h.world = world{
		Key: must.Get(x509.MarshalECPrivateKey(key)), Cert: must.Get(x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)),
		Objects: map[string]*stored{}, Tokens: map[string]token{},
	}
	must.Do(h.applyDeploy())
	if !h.cfg.Plain {
		h.installOperator()
	}
	return h.save()
}

func (h *Hub) save() error {
	if h.cfg.StatePath == "" {
		return nil
	}
	raw, err := json.Marshal(h.world)
	if err != nil {
		return err
	}
	return file.Replace(h.cfg.StatePath, raw)
}

// URL is the address of its API.
func (h *Hub) URL() string { return h.url }

// UID identifies the hub: that of its namespace kube-system.
func (h *Hub) UID() string { return text(h.get(namespaces+"/kube-system"), "metadata", "uid") }

// Credentials is the document behind an account's credentials.ref.
func (h *Hub) Credentials() string {
	raw, _ := json.Marshal(map[string]string{"server": h.url, "token": h.world.Runner, "ca": string(h.ca)}) // strings always encode
	return string(raw)
}

// CA is the certificate with which it is verified, in PEM.
func (h *Hub) CA() []byte { return h.ca }

// Away has nothing answered for a while.
func (h *Hub) Away(d time.Duration) { h.change(func() { h.away = time.Now().Add(d) }) }

// Skip has some requests not answered, after some more that are.
func (h *Hub) Skip(after, requests int) {
	h.change(func() { h.skips = [2]int{h.calls + after + 1, h.calls + after + 1 + requests} })
}

// RefuseTokens has every token refused, or known again.
func (h *Hub) RefuseTokens(on bool) { h.change(func() { h.refuses = on }) }

// Strike calls a function with the path of what was changed after each change, before it is answered; nil: none.
func (h *Hub) Strike(f func(method, path string)) { h.change(func() { h.strike = f }) }

// Hold gives an object a finalizer that nobody removes, and Free takes all of them away.
func (h *Hub) Hold(path, finalizer string) error {
	return h.edit(path, func(o object) {
		set(o, append(texts(o, "metadata", "finalizers"), finalizer), "metadata", "finalizers")
	})
}

// Free takes the finalizers of an object away.
func (h *Hub) Free(path string) error {
	return h.edit(path, func(o object) { set(o, nil, "metadata", "finalizers") })
}

// Put makes an object as somebody else would.
func (h *Hub) Put(path string, o map[string]any) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	_, err := h.create(path, o)
	return errors.Join(err, h.save())
}

func (h *Hub) edit(path string, change func(object)) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	one := h.world.Objects[path]
	if one == nil {
		return fmt.Errorf("there is no %s", path)
	}
	change(one.Object)
	return h.save()
}

func (h *Hub) change(do func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	do()
}

func (h *Hub) get(path string) object {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.settle()
	if one := h.world.Objects[path]; one != nil {
		return one.Object
	}
	return nil
}

// Left returns the paths of what there is of a namespace, or of all that clusters can have made if the text is empty.
func (h *Hub) Left(part string) (paths []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.settle()
	for _, path := range slices.Sorted(maps.Keys(h.world.Objects)) {
		raw, _ := json.Marshal(h.world.Objects[path].Object)
		own := part == "" && (at(h.world.Objects[path].Object, "metadata", "labels", clusterLabel) != nil || strings.Contains(path, "/persistentvolumes/") || isOfControlPlane(path, string(raw)))
		if own || part != "" && strings.Contains(path+string(raw), part) {
			paths = append(paths, path)
		}
	}
	return paths
}

// Calls returns how many requests came in.
func (h *Hub) Calls() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.calls
}
