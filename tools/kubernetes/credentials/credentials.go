// Package credentials makes the certificates, tokens and kubeconfigs of a control plane and keeps them in a directory, so that what
// was given out before a restart is still valid after it.
package credentials

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// Names of the files in the directory.
const (
	CA                = "ca.crt"
	APIServer         = "apiserver"      // certificate and key, with the endings .crt and .key; the others alike
	Etcd              = "etcd"           // serves etcd, to its clients and its peers
	EtcdClient        = "etcd-client"    // the API server at etcd
	KubeletClient     = "kubelet-client" // the API server at a kubelet
	ServiceAccountKey = "service-account.key"
	Tokens            = "tokens.csv"
	AdminKubeconfig   = "admin.kubeconfig"
)

// Directory holds the credentials of one control plane.
type Directory struct {
	path string
	ca   *authority
}

// Open makes the directory with a certificate authority and the control plane's own certificates, or opens the one that is there.
func Open(path string) (*Directory, error) {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, err
	}
	ca, err := openAuthority(path)
	if err != nil {
		return nil, fmt.Errorf("open the certificate authority in %s: %w", path, err)
	}
	d := &Directory{path: path, ca: ca}
	loopback := []net.IP{net.IPv4(127, 0, 0, 1)}
	for name, c := range map[string]certificate{
		APIServer:     {name: "kube-apiserver", ips: append(loopback, net.IPv4(10, 123, 0, 1)), hosts: []string{"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc"}},
		Etcd:          {name: "etcd", ips: loopback},
		EtcdClient:    {name: "kube-apiserver-etcd-client"},
		KubeletClient: {name: "kube-apiserver-kubelet-client", group: "system:masters"},
	} {
		if err := ca.issue(path, name, c); err != nil {
			return nil, fmt.Errorf("issue the certificate %s: %w", name, err)
		}
	}
	if err := newKeyFile(d.File(ServiceAccountKey)); err != nil {
		return nil, fmt.Errorf("make the key of service account tokens: %w", err)
	}
	return d, nil
}

// File returns the path of a file in the directory.
func (d *Directory) File(name string) string { return filepath.Join(d.path, name) }

// Kubelet issues the certificate with which the kubelet of a node serves, and returns its name.
func (d *Directory) Kubelet(node string, ip net.IP) (string, error) {
	name := "kubelet-" + node
	return name, d.ca.issue(d.path, name, certificate{name: "system:node:" + node, group: "system:nodes", ips: []net.IP{ip}, hosts: []string{node}})
}

// User is somebody with a static token.
type User struct {
	Name   string
	Groups []string
}

// WriteTokens writes the file of static tokens and returns each user's token. A user keeps the token of an earlier run.
func (d *Directory) WriteTokens(users []User) (map[string]string, error) {
	tokens := map[string]string{}
	var lines strings.Builder
	for _, u := range users {
		token, err := d.token(u.Name)
		if err != nil {
			return nil, fmt.Errorf("make the token of %s: %w", u.Name, err)
		}
		tokens[u.Name] = token
		fmt.Fprintf(&lines, "%s,%s,%s,%q\n", token, u.Name, u.Name, strings.Join(u.Groups, ","))
	}
	return tokens, os.WriteFile(d.File(Tokens), []byte(lines.String()), 0o600)
}

func (d *Directory) token(user string) (string, error) {
	path := d.File("token-" + strings.ReplaceAll(user, ":", "-"))
	raw, err := os.ReadFile(path)
	if err == nil {
		return string(raw), nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	token := rand.Text()
	return token, os.WriteFile(path, []byte(token), 0o600)
}

// WriteKubeconfig writes a kubeconfig for a token to a file and returns its path.
func (d *Directory) WriteKubeconfig(path, server, user, token string) error {
	ca, err := os.ReadFile(d.File(CA))
	if err != nil {
		return err
	}
	return clientcmd.WriteToFile(clientcmdapi.Config{
		Clusters:       map[string]*clientcmdapi.Cluster{"local": {Server: server, CertificateAuthorityData: ca}},
		AuthInfos:      map[string]*clientcmdapi.AuthInfo{user: {Token: token}},
		Contexts:       map[string]*clientcmdapi.Context{"local": {Cluster: "local", AuthInfo: user}},
		CurrentContext: "local",
	}, path)
}
