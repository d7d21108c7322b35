package csr_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"net"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/runner/csr"
)

const (
	node = "ip-10-0-1-7.ec2.internal"
	boot = "system:serviceaccount:openshift-machine-config-operator:node-bootstrapper"
)

var machines = []csr.Machine{
	{Node: "ip-10-0-1-9.ec2.internal", IPs: []string{"10.0.1.9"}, Names: []string{"ip-10-0-1-9.ec2.internal"}, Egress: []string{"10.0.1.201"}},
	{
		Node: node, IPs: []string{"10.0.1.7"}, Names: []string{"ip-10-0-1-7.ec2.internal", "ip-10-0-1-7", "ip-10-0-1-7.Corp.Example.com"},
		Egress: []string{"10.0.1.200", "10.0.1.9"},
	},
	{}, // one that never joined
}

// asked is a request as a test writes it.
type asked struct {
	signer, username string
	groups, usages   []string
	template         x509.CertificateRequest
	breakPEM         func([]byte) []byte
	decided          bool
}

func client() asked {
	return asked{
		signer: "kubernetes.io/kube-apiserver-client-kubelet", username: boot,
		groups: []string{"system:serviceaccounts", "system:serviceaccounts:openshift-machine-config-operator", "system:authenticated"},
		usages: []string{"digital signature", "client auth"}, template: subject("system:node:"+node, "system:nodes"),
	}
}

func serving() asked {
	a := asked{
		signer: "kubernetes.io/kubelet-serving", username: "system:node:" + node, groups: []string{"system:nodes", "system:authenticated"},
		usages: []string{"digital signature", "key encipherment", "server auth"}, template: subject("system:node:"+node, "system:nodes"),
	}
	a.template.DNSNames, a.template.IPAddresses = []string{node}, []net.IP{net.ParseIP("10.0.1.7")}
	return a
}

func subject(name string, groups ...string) x509.CertificateRequest {
	return x509.CertificateRequest{Subject: pkix.Name{CommonName: name, Organization: groups}}
}

func (a asked) list(t *testing.T) []byte {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	der, err := x509.CreateCertificateRequest(rand.Reader, &a.template, key)
	require.NoError(t, err)
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der})
	if a.breakPEM != nil {
		block = a.breakPEM(block)
	}
	status := map[string]any{}
	if a.decided {
		status["conditions"] = []any{map[string]any{"type": "Approved", "status": "True"}}
	}
	raw, err := json.Marshal(map[string]any{"kind": "List", "items": []any{map[string]any{
		"metadata": map[string]any{"name": "csr-7x2kp"}, "status": status,
		"spec": map[string]any{"request": block, "signerName": a.signer, "username": a.username, "groups": a.groups, "usages": a.usages},
	}}})
	require.NoError(t, err)
	return raw
}

func (a asked) check(t *testing.T) error {
	t.Helper()
	pending, err := csr.Pending(a.list(t))
	require.NoError(t, err)
	require.Len(t, pending, 1)
	require.Equal(t, "csr-7x2kp", pending[0].Name)
	return pending[0].Check(machines)
}

func TestANodesOwnRequestsMayBeApproved(t *testing.T) {
	renews := client()
	renews.username, renews.groups = "system:node:"+node, []string{"system:nodes"}
	egress, second := serving(), serving()
	egress.template.IPAddresses = append(egress.template.IPAddresses, net.ParseIP("10.0.1.200"))
	second.template.DNSNames = append(second.template.DNSNames, "ip-10-0-1-7.corp.example.com")
	for name, a := range map[string]asked{
		"bootstrap": client(), "renewal": renews, "serving": serving(), "an egress address": egress, "a second domain of DHCP": second,
	} {
		require.NoError(t, a.check(t), name)
	}
	decided := client()
	decided.decided = true
	pending, err := csr.Pending(decided.list(t))
	require.NoError(t, err)
	require.Empty(t, pending, "a decided request is nobody's business")
}

func TestNothingElseIsApproved(t *testing.T) {
	for name, c := range map[string]struct {
		of     func() asked
		change func(*asked)
		says   string
	}{
		"an admin's certificate":   {client, func(a *asked) { a.template = subject("system:admin", "system:masters") }, "is not a node"},
		"a node in a second group": {client, func(a *asked) { a.template = subject("system:node:"+node, "system:nodes", "system:masters") }, "is not a node"},
		"a node in no group":       {client, func(a *asked) { a.template = subject("system:node:" + node) }, "is not a node"},
		"a node without a name":    {client, func(a *asked) { a.template = subject("system:node:", "system:nodes") }, "is not a node"},
		"a node without a machine": {client, func(a *asked) { a.template = subject("system:node:intruder", "system:nodes") }, "no machine of the cluster"},
		"another node's renewal": {client, func(a *asked) {
			a.username, a.groups = "system:node:ip-10-0-1-9.ec2.internal", []string{"system:nodes"}
		}, "may not request it"},
		"a person's request":                  {client, func(a *asked) { a.username = "maya" }, "may not request it"},
		"the bootstrapper out of its group":   {client, func(a *asked) { a.groups = []string{"system:authenticated"} }, "may not request it"},
		"a client certificate with addresses": {client, func(a *asked) { a.template.DNSNames = []string{node} }, "has no addresses"},
		"a client certificate that signs":     {client, func(a *asked) { a.usages = append(a.usages, "cert sign") }, "usage \"cert sign\""},
		"a client certificate that serves":    {client, func(a *asked) { a.usages = []string{"digital signature", "server auth"} }, "usage \"server auth\""},
		"no usages":                           {client, func(a *asked) { a.usages = nil }, "lack"},
		"another signer":                      {client, func(a *asked) { a.signer = "kubernetes.io/kube-apiserver-client" }, "does not sign for nodes"},
		"a serving certificate of another":    {serving, func(a *asked) { a.username = "system:node:ip-10-0-1-9.ec2.internal" }, "may not request it"},
		"a serving certificate by bootstrap":  {serving, func(a *asked) { a.username = boot }, "may not request it"},
		"another machine's address":           {serving, func(a *asked) { a.template.IPAddresses = []net.IP{net.ParseIP("10.0.1.9")} }, "10.0.1.9 is not an address"},
		"another node's egress address":       {serving, func(a *asked) { a.template.IPAddresses = []net.IP{net.ParseIP("10.0.1.201")} }, "10.0.1.201 is not an address"},
		"a name in an unknown domain":         {serving, func(a *asked) { a.template.DNSNames = []string{node, "ip-10-0-1-7.evil.example.com"} }, "is not a name of its machine"},
		"an address as a name":                {serving, func(a *asked) { a.template.DNSNames = []string{"10.0.1.7"} }, "is not a name of its machine"},
		"the API's name":                      {serving, func(a *asked) { a.template.DNSNames = []string{node, "api.shop.labs.example.com"} }, "is not a name of its machine"},
		"a serving certificate for nothing":   {serving, func(a *asked) { a.template.DNSNames, a.template.IPAddresses = nil, nil }, "needs an address"},
		"an e-mail address":                   {serving, func(a *asked) { a.template.EmailAddresses = []string{"maya@acme.example"} }, "e-mail"},
		"a URI":                               {serving, func(a *asked) { a.template.URIs = []*url.URL{{Scheme: "spiffe", Host: "acme"}} }, "URIs"},
		"no PEM":                              {client, func(a *asked) { a.breakPEM = func([]byte) []byte { return []byte("x") } }, "not one PEM block"},
		"two PEM blocks":                      {client, func(a *asked) { a.breakPEM = func(b []byte) []byte { return append(b, b...) } }, "not one PEM block"},
		"no request inside": {client, func(a *asked) {
			a.breakPEM = func([]byte) []byte {
				return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: []byte("x")})
			}
		}, "cannot be parsed"},
		"a wrong signature": {client, func(a *asked) {
			a.breakPEM = func(b []byte) []byte {
				block, _ := pem.Decode(b)
				block.Bytes[len(block.Bytes)-1] ^= 1
				return pem.EncodeToMemory(block)
			}
		}, "signature is wrong"},
	} {
		a := c.of()
		c.change(&a)
		require.ErrorContains(t, a.check(t), c.says, name)
	}
}

func TestAnswersOfTheClusterAreRead(t *testing.T) {
	read, err := csr.Machines([]byte(`{"items": [{"status": {"nodeRef": {"name": "a"}, "addresses": [{"type": "InternalIP", "address": "10.0.0.1"},
		{"type": "InternalDNS", "address": "a.ec2.internal"}, {"type": "InternalDNS", "address": "a.corp.example.com."}, {"type": "Else", "address": "b"}]}}, {"status": {}}]}`))
	require.NoError(t, err)
	require.Equal(t, []csr.Machine{{Node: "a", IPs: []string{"10.0.0.1"}, Names: []string{"a.ec2.internal", "a.corp.example.com"}}, {}}, read)
	require.NoError(t, csr.AddEgress([]byte(`{"items": [{"status": {"items": [{"node": "a", "egressIP": "10.0.0.200"}, {"node": "", "egressIP": "10.0.0.201"}]}}, {"spec": {"egressIPs": ["10.0.0.202"]}}]}`), read))
	require.Equal(t, []string{"10.0.0.200"}, read[0].Egress, "what is only asked for is not given")
	require.Empty(t, read[1].Egress)
	require.ErrorContains(t, csr.AddEgress([]byte("x"), read), "is not JSON")
	_, err = csr.Machines([]byte("x"))
	require.ErrorContains(t, err, "is not JSON")
	_, err = csr.Pending([]byte("x"))
	require.ErrorContains(t, err, "is not JSON")
}
