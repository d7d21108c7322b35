package oc

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/devstack/installer/act"
	"github.com/ocpctl/ocpctl/devstack/installer/resources"
	"github.com/ocpctl/ocpctl/devstack/must"
)

// certificateRequest is a request of a node whose machine was stopped: first for its client certificate, then for its serving certificate.
type certificateRequest struct {
	machine  resources.Machine
	domains  []string
	kind     string
	document object
}

func (c certificateRequest) name() string {
	started, _ := time.Parse(time.RFC3339Nano, c.machine.Started) // as the cloud wrote it
	return fmt.Sprintf("csr-%s-%s-%d", c.machine.Name, c.kind, started.UnixMilli())
}

// certificateRequests lists the requests that nobody approved yet.
func certificateRequests(l *resources.Living) (all []certificateRequest, err error) {
	for _, m := range l.Machines {
		kind := resources.ClientCertificate
		switch {
		case !m.Running || m.Mute || !m.Restarted || m.Certified[resources.ServingCertificate]:
			continue
		case m.Certified[resources.ClientCertificate]:
			kind = resources.ServingCertificate
		}
		one := certificateRequest{machine: m, domains: l.Domains, kind: kind}
		if one.document, err = one.build(); err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, nil
}

// build returns the request as the real kubelet makes it.
func (c certificateRequest) build() (_ object, err error) {
	defer must.Catch(&err)
	node := "system:node:" + c.machine.Name
	wanted := x509.CertificateRequest{Subject: pkix.Name{CommonName: node, Organization: []string{"system:nodes"}}}
	spec := object{
		"signerName": "kubernetes.io/kube-apiserver-client-kubelet", "username": "system:serviceaccount:openshift-machine-config-operator:node-bootstrapper",
		"groups": []string{"system:serviceaccounts", "system:serviceaccounts:openshift-machine-config-operator", "system:authenticated"},
		"usages": []string{"digital signature", "client auth"},
	}
	if c.kind == resources.ServingCertificate {
		wanted.DNSNames, wanted.IPAddresses = []string{c.machine.Name}, []net.IP{net.ParseIP(c.machine.IP)}
		for _, domain := range c.domains {
			wanted.DNSNames = append(wanted.DNSNames, strings.ToLower(strings.TrimSuffix(c.machine.Name+"."+domain, ".")))
		}
		if c.machine.Egress != "" {
			wanted.IPAddresses = append(wanted.IPAddresses, net.ParseIP(c.machine.Egress))
		}
		spec["signerName"], spec["username"] = "kubernetes.io/kubelet-serving", node
		spec["groups"], spec["usages"] = []string{"system:nodes", "system:authenticated"}, []string{"digital signature", "server auth"}
	}
	key := must.Get(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))
	der := must.Get(x509.CreateCertificateRequest(rand.Reader, &wanted, key))
	spec["request"] = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der})
	return object{"kind": "CertificateSigningRequest", "metadata": object{"name": c.name()}, "spec": spec, "status": object{}}, nil
}

// approve approves one request; the node then has that certificate until its machine is stopped again.
func (r *run) approve(ctx context.Context, l *resources.Living, args []string) (err error) {
	defer must.Catch(&err)
	requests := must.Get(certificateRequests(l))
	i := slices.IndexFunc(requests, func(c certificateRequest) bool { return c.name() == args[0] })
	if i < 0 {
		return act.Fail(1, "Error from server (NotFound): certificatesigningrequests.certificates.k8s.io %q not found", args[0])
	}
	must.Do(l.Certify(ctx, requests[i].machine, requests[i].kind))
	_, err = fmt.Fprintf(r.stdout, "certificatesigningrequest.certificates.k8s.io/%s approved\n", args[0])
	return err
}

// clusterOperators are some of the cluster's operators. The routers need a node that works, and etcd and the API server are degraded while the control
// plane has two machines; nothing else is wrong in the stand-in's clusters.
func clusterOperators(l *resources.Living) (all []any) {
	broken := slices.ContainsFunc(l.Machines, func(m resources.Machine) bool { return !m.Joined() && (m.Running || !m.Master) })
	running, _ := masters(l)
	for _, name := range []string{"authentication", "console", "etcd", "ingress", "kube-apiserver", "monitoring"} {
		available, degraded := "True", "False"
		if broken && name == "ingress" {
			available, degraded = "False", "True"
		}
		if running == 2 && (name == "etcd" || name == "kube-apiserver") {
			degraded = "True"
		}
		all = append(all, object{"kind": "ClusterOperator", "metadata": object{"name": name}, "status": object{"conditions": []object{
			{"type": "Available", "status": available}, {"type": "Degraded", "status": degraded}, {"type": "Progressing", "status": "False"},
		}}})
	}
	return all
}
