package devstack_test

import (
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/letsencrypt/pebble/v2/ca"
	"github.com/letsencrypt/pebble/v2/db"
	"github.com/letsencrypt/pebble/v2/va"
	"github.com/letsencrypt/pebble/v2/wfe"
	"github.com/miekg/dns"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack"
)

// acmeServer is letsencrypt/pebble, an ACME server for tests, which reads the records of the stand-in Route 53.
type acmeServer struct {
	Directory string // its URL
	CA        []byte // proves the server (PEM)
	Root      []byte // proves the certificates that it issues (PEM)

	server *httptest.Server
	dns    *dns.Server
}

// startACME starts it for a stack. It ends with the test.
func startACME(t testing.TB, h *devstack.Stack) *acmeServer {
	require.NoError(t, os.Setenv("PEBBLE_VA_NOSLEEP", "1")) // it waits up to 15 s otherwise
	names, err := net.Listen("tcp", "127.0.0.1:0")          // pebble asks its own resolver over TCP
	require.NoError(t, err)
	a := &acmeServer{dns: &dns.Server{Listener: names, Handler: answerText(h)}}
	go func() { _ = a.dns.ActivateAndServe() }() // until Shutdown
	logs := log.New(io.Discard, "", 0)
	rows := db.NewMemoryStore()
	issuer := ca.New(logs, rows, "", "ecdsa", 0, 1, map[string]ca.Profile{"default": {Description: "the only one"}})
	front := wfe.New(logs, rows, va.New(logs, 0, 0, true, names.Addr().String(), rows), issuer, []string{"acme.example"}, true, false, 1, 1)
	a.server = httptest.NewTLSServer(front.Handler())
	a.Directory = a.server.URL + wfe.DirectoryPath
	a.CA = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.server.Certificate().Raw})
	a.Root = issuer.GetRootCert(0).PEM()
	t.Cleanup(func() {
		a.server.Close()
		require.NoError(t, a.dns.Shutdown())
	})
	return a
}

// answerText answers questions for TXT records of a public zone.
func answerText(h *devstack.Stack) dns.HandlerFunc {
	return func(w dns.ResponseWriter, r *dns.Msg) {
		reply := new(dns.Msg)
		reply.SetReply(r)
		for _, q := range r.Question {
			for _, found := range h.AWS.Resources(strings.TrimSuffix(q.Name, ".")) {
				if q.Qtype != dns.TypeTXT || found.Attrs["type"] != "TXT" || !strings.EqualFold(found.Name, q.Name) {
					continue
				}
				for _, value := range found.Values["values"] {
					if record, err := dns.NewRR(fmt.Sprintf("%s 0 IN TXT %s", q.Name, value)); err == nil {
						reply.Answer = append(reply.Answer, record)
					}
				}
			}
		}
		_ = w.WriteMsg(reply) // whoever asked asks again
	}
}
