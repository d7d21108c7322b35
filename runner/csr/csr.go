// Package csr decides which certificate requests of a cluster's nodes may be approved after the nodes were off.
//
// A node whose certificates ran out while it was stopped requests new ones, and nothing in the cluster approves them by itself. Whoever may
// create a request can ask for any name, so each one is checked against the cluster's own machines, as the cluster's machine approver does
// for new nodes: against what the cloud says of a machine, as its Machine object has it, and never against what a node says of itself. Anything that is not exactly a node's own request is left for a person. The package makes no calls.
package csr

import (
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
)

// The signers of a node's two certificates (Kubernetes: Certificate Signing Requests, Kubernetes signers).
const (
	clientSigner  = "kubernetes.io/kube-apiserver-client-kubelet"
	servingSigner = "kubernetes.io/kubelet-serving"
)

// Who requests a node's client certificate before it has one: OpenShift's bootstrap account, in the groups that every account has.
const (
	bootstrapper  = "system:serviceaccount:openshift-machine-config-operator:node-bootstrapper"
	bootstrapRole = "system:serviceaccounts:openshift-machine-config-operator"
	nodePrefix    = "system:node:"
	nodesGroup    = "system:nodes"
)

// Machine is a machine of the cluster, with the names and addresses that its node may have certificates for.
type Machine struct {
	Node   string   // the node's name; empty: it never joined
	Names  []string // DNS names: a VPC whose DHCP options have several domains gives it one in each
	IPs    []string
	Egress []string // IP addresses for outgoing traffic that the cluster's network gave the node
}

// Request is a certificate request that nobody decided yet.
type Request struct {
	Name             string
	signer, username string
	groups, usages   []string
	pem              []byte
}

// Pending reads the answer to "oc get csr -o json" and returns the requests that are neither approved nor denied nor failed.
func Pending(list []byte) ([]Request, error) {
	var read struct {
		Items []struct {
			Metadata struct{ Name string }
			Spec     struct {
				Request              []byte
				SignerName, Username string
				Groups, Usages       []string
			}
			Status struct {
				Conditions []struct{ Type string }
			}
		}
	}
	if err := json.Unmarshal(list, &read); err != nil {
		return nil, errors.New("the list of certificate requests is not JSON")
	}
	var pending []Request
	for _, item := range read.Items {
		if len(item.Status.Conditions) == 0 {
			s := item.Spec
			pending = append(pending, Request{item.Metadata.Name, s.SignerName, s.Username, s.Groups, s.Usages, s.Request})
		}
	}
	return pending, nil
}

// Machines reads the answer to "oc get machines -o json".
func Machines(list []byte) ([]Machine, error) {
	var read struct {
		Items []struct {
			Status struct {
				NodeRef   struct{ Name string }
				Addresses []struct{ Type, Address string }
			}
		}
	}
	if err := json.Unmarshal(list, &read); err != nil {
		return nil, errors.New("the list of machines is not JSON")
	}
	var machines []Machine
	for _, item := range read.Items {
		m := Machine{Node: item.Status.NodeRef.Name}
		for _, a := range item.Status.Addresses {
			switch a.Type {
			case "InternalDNS", "ExternalDNS", "Hostname":
				m.Names = append(m.Names, strings.TrimSuffix(a.Address, ".")) // a domain of DHCP options may end in a dot
			case "InternalIP", "ExternalIP":
				m.IPs = append(m.IPs, a.Address)
			}
		}
		machines = append(machines, m)
	}
	return machines, nil
}

// AddEgress reads the answer to "oc get egressips.k8s.ovn.org -o json", and adds to each machine the addresses that its node has now. On a cloud
// they are on the machine's network interface, so its kubelet asks for them too.
func AddEgress(list []byte, machines []Machine) error {
	var read struct {
		Items []struct {
			Status struct {
				Items []struct{ Node, EgressIP string }
			}
		}
	}
	if err := json.Unmarshal(list, &read); err != nil {
		return errors.New("the list of egress addresses is not JSON")
	}
	for _, item := range read.Items {
		for _, given := range item.Status.Items {
			for i := range machines {
				if given.Node != "" && machines[i].Node == given.Node {
					machines[i].Egress = append(machines[i].Egress, given.EgressIP)
				}
			}
		}
	}
	return nil
}

// hasIP reports that it is one of the addresses.
func hasIP(addresses []string, ip net.IP) bool {
	return slices.ContainsFunc(addresses, func(a string) bool { return ip.Equal(net.ParseIP(a)) })
}

// Check returns nil if the request is one that a node of the machines makes for itself, otherwise why it is not.
func (r Request) Check(machines []Machine) error {
	request, err := r.parseRequest()
	if err != nil {
		return err
	}
	node, isNode := strings.CutPrefix(request.Subject.CommonName, nodePrefix)
	if !isNode || node == "" || !slices.Equal(request.Subject.Organization, []string{nodesGroup}) {
		return fmt.Errorf("it is for %q of %q, which is not a node", request.Subject.CommonName, request.Subject.Organization)
	}
	at := slices.IndexFunc(machines, func(m Machine) bool { return m.Node == node })
	if at < 0 {
		return fmt.Errorf("no machine of the cluster has the node %s", node)
	}
	if len(request.EmailAddresses)+len(request.URIs) > 0 {
		return errors.New("it names e-mail addresses or URIs")
	}
	switch r.signer {
	case clientSigner:
		return r.checkClient(request, node)
	case servingSigner:
		return r.checkServing(request, node, machines, at)
	}
	return fmt.Errorf("its signer %q does not sign for nodes", r.signer)
}

// parseRequest reads the request and checks that whoever made it has its key.
func (r Request) parseRequest() (*x509.CertificateRequest, error) {
	block, rest := pem.Decode(r.pem)
	if block == nil || block.Type != "CERTIFICATE REQUEST" || len(strings.TrimSpace(string(rest))) > 0 {
		return nil, errors.New("it is not one PEM block with a certificate request")
	}
	request, err := x509.ParseCertificateRequest(block.Bytes)
	if err != nil {
		return nil, errors.New("it cannot be parsed")
	}
	if request.CheckSignature() != nil {
		return nil, errors.New("its signature is wrong")
	}
	return request, nil
}

// checkClient allows the bootstrap account to request a client certificate for a node. A node that still has one may renew it for itself.
func (r Request) checkClient(request *x509.CertificateRequest, node string) error {
	own := r.username == nodePrefix+node && slices.Contains(r.groups, nodesGroup)
	bootstraps := r.username == bootstrapper && slices.Contains(r.groups, bootstrapRole)
	if !own && !bootstraps {
		return fmt.Errorf("%q may not request it", r.username)
	}
	if len(request.DNSNames)+len(request.IPAddresses) > 0 {
		return errors.New("a client certificate has no addresses")
	}
	return r.checkUsages("client auth")
}

// checkServing allows a node to request a serving certificate for the names and addresses of its own machine, and for egress addresses that the
// cluster's network gave it, unless they are another machine's own.
func (r Request) checkServing(request *x509.CertificateRequest, node string, machines []Machine, at int) error {
	m := machines[at]
	if r.username != nodePrefix+node || !slices.Contains(r.groups, nodesGroup) {
		return fmt.Errorf("%q may not request it", r.username)
	}
	if len(request.DNSNames)+len(request.IPAddresses) == 0 {
		return errors.New("a serving certificate needs an address")
	}
	for _, name := range request.DNSNames {
		if name != node && !slices.ContainsFunc(m.Names, func(own string) bool { return strings.EqualFold(own, name) }) {
			return fmt.Errorf("%s is not a name of its machine", name)
		}
	}
	for _, ip := range request.IPAddresses {
		others := slices.ContainsFunc(machines, func(o Machine) bool { return o.Node != node && hasIP(o.IPs, ip) })
		if !hasIP(m.IPs, ip) && (others || !hasIP(m.Egress, ip)) {
			return fmt.Errorf("%s is not an address of its machine", ip)
		}
	}
	return r.checkUsages("server auth")
}

// checkUsages allows exactly the usages of the certificate. Key encipherment is only for RSA keys, so not every request has it.
func (r Request) checkUsages(purpose string) error {
	allowed := []string{"digital signature", "key encipherment", purpose}
	for _, usage := range r.usages {
		if !slices.Contains(allowed, usage) {
			return fmt.Errorf("its usage %q is not a node's", usage)
		}
	}
	for _, usage := range []string{"digital signature", purpose} {
		if !slices.Contains(r.usages, usage) {
			return fmt.Errorf("its usages lack %q", usage)
		}
	}
	return nil
}
