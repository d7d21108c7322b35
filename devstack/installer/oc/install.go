package oc

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/ocpctl/ocpctl/devstack/installer/resources"
	"github.com/ocpctl/ocpctl/devstack/must"
)

// This file is what guards the credentials of the install: the ConfigMap with the certificates of those who may sign a kubeconfig of system:admin, and
// the hash of the kubeadmin password. Until something changes them the stand-in keeps neither: then only the installer's kubeconfig is signed, by
// the certificate that is in it, and nobody signs in as kubeadmin.

const (
	signersName   = "admin-kubeconfig-client-ca"
	signersKey    = "ca-bundle.crt"
	signersNote   = "ConfigMap/" + signersName
	kubeadminNote = "Secret/kubeadmin"
	kubeAdmin     = "kube:admin" // the user, and its identity provider
)

// isSigned reports that one of the signers signed the login's certificate, and that its key fits.
func (r *run) isSigned(l *resources.Living) bool {
	signers := x509.NewCertPool()
	if !signers.AppendCertsFromPEM([]byte(l.Kept(signersNote))) {
		return true
	}
	certificate, _ := base64.StdEncoding.DecodeString(r.login.Certificate)
	key, _ := base64.StdEncoding.DecodeString(r.login.Key)
	pair, err := tls.X509KeyPair(certificate, key)
	if err != nil || pair.Leaf.Subject.CommonName != "system:admin" {
		return false
	}
	_, err = pair.Leaf.Verify(x509.VerifyOptions{Roots: signers, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})
	return err == nil
}

func (r *run) signersAs(l *resources.Living) object {
	signers := l.Kept(signersNote)
	if signers == "" {
		own, _ := base64.StdEncoding.DecodeString(r.ownCA)
		signers = string(own)
	}
	return object{"apiVersion": "v1", "kind": "ConfigMap", "metadata": object{"name": signersName, "namespace": configNamespace}, "data": object{signersKey: signers}}
}

// patchInstall merges new data into the ConfigMap or into the Secret; it reports false for any other object. Another password ends the sessions of
// kubeadmin: the OAuth server derives the user's id from the hash.
func (r *run) patchInstall(ctx context.Context, l *resources.Living, kind, name string) (done bool, err error) {
	defer must.Catch(&err)
	if r.patchFile == "" {
		return false, nil
	}
	var change struct{ Data map[string]string }
	must.Do(json.Unmarshal(must.Get(os.ReadFile(r.patchFile)), &change))
	one := strings.TrimSuffix(kind, "s")
	switch one + "/" + r.namespace + "/" + name {
	case "configmap/" + configNamespace + "/" + signersName:
		must.Do(l.Keep(ctx, signersNote, change.Data[signersKey]))
	case "secret/kube-system/kubeadmin":
		hash := must.Get(base64.StdEncoding.DecodeString(change.Data["kubeadmin"]))
		must.Do(l.Keep(ctx, kubeadminNote, string(hash)))
		for _, s := range l.Sessions() {
			if s.User == kubeAdmin {
				must.Do(l.End(ctx, s))
			}
		}
	default:
		return false, errors.New("the stand-in changes from a file the signers of kubeconfigs and the kubeadmin password only")
	}
	_, err = fmt.Fprintf(r.stdout, "%s/%s patched\n", one, name)
	return true, err
}
