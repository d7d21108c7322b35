package oc

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/bcrypt"

	"github.com/ocpctl/ocpctl/devstack/installer/resources"
)

// memory keeps a cluster's notes.
type memory struct {
	resources.Platform
	notes map[string]string
}

func (m memory) Note(_ context.Context, _, key, value string) error {
	m.notes[key] = value
	return nil
}

func newLiving() *resources.Living {
	notes := map[string]string{}
	return &resources.Living{On: memory{notes: notes}, Network: "net", Notes: map[string]map[string]string{"net": notes}}
}

// newAdmin makes a signer, and a login with a certificate from it.
func newAdmin(t *testing.T) (signer string, of login) {
	t.Helper()
	issue := func(template, parent *x509.Certificate, by *ecdsa.PrivateKey) (*x509.Certificate, *ecdsa.PrivateKey) {
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		require.NoError(t, err)
		template.SerialNumber, template.NotAfter = big.NewInt(1), time.Now().Add(time.Hour)
		if by == nil {
			parent, by = template, key
		}
		raw, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), by)
		require.NoError(t, err)
		made, err := x509.ParseCertificate(raw)
		require.NoError(t, err)
		return made, key
	}
	encode := func(kind string, der []byte) []byte { return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}) }
	ca, caKey := issue(&x509.Certificate{IsCA: true, BasicConstraintsValid: true, Subject: pkix.Name{CommonName: "signer"}}, nil, nil)
	own, key := issue(&x509.Certificate{Subject: pkix.Name{CommonName: "system:admin"}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}, ca, caKey)
	der, err := x509.MarshalECPrivateKey(key)
	require.NoError(t, err)
	return string(encode("CERTIFICATE", ca.Raw)), login{
		Certificate: base64.StdEncoding.EncodeToString(encode("CERTIFICATE", own.Raw)), Key: base64.StdEncoding.EncodeToString(encode("EC PRIVATE KEY", der)),
	}
}

// merge changes the data of an object from a file.
func merge(t *testing.T, l *resources.Living, kind, name, namespace, key, value string) error {
	t.Helper()
	raw, err := json.Marshal(object{"data": object{key: value}})
	require.NoError(t, err)
	r := &run{stdout: &bytes.Buffer{}, namespace: namespace, patchFile: filepath.Join(t.TempDir(), "patch.json")}
	require.NoError(t, os.WriteFile(r.patchFile, raw, 0o600))
	_, err = r.patchInstall(t.Context(), l, kind, name)
	return err
}

func TestAKubeconfigIsRefusedOnceItsSignerIsNotTrusted(t *testing.T) {
	l := newLiving()
	oldSigner, oldLogin := newAdmin(t)
	newSigner, newLogin := newAdmin(t)
	accepted := func() [2]bool {
		return [2]bool{(&run{login: oldLogin}).isSigned(l), (&run{login: newLogin}).isSigned(l)}
	}
	before := (&run{ownCA: base64.StdEncoding.EncodeToString([]byte(oldSigner))}).signersAs(l)["data"].(object)[signersKey]
	require.Equal(t, oldSigner, before)
	require.NoError(t, merge(t, l, "configmaps", signersName, configNamespace, signersKey, oldSigner+newSigner))
	require.Equal(t, [2]bool{true, true}, accepted())
	require.NoError(t, merge(t, l, "configmaps", signersName, configNamespace, signersKey, newSigner))
	require.Equal(t, [2]bool{false, true}, accepted())
	require.Equal(t, newSigner, (&run{}).signersAs(l)["data"].(object)[signersKey])
	newLogin.Key = oldLogin.Key
	require.False(t, (&run{login: newLogin}).isSigned(l), "a certificate without its key")
	require.Error(t, merge(t, l, "secrets", "pull-secret", configNamespace, "a", "b"))
}

func TestKubeadminSignsInWithTheNewestPassword(t *testing.T) {
	l := newLiving()
	set := func(password string) {
		hash, err := bcrypt.GenerateFromPassword([]byte(password), bcrypt.MinCost)
		require.NoError(t, err)
		require.NoError(t, merge(t, l, "secrets", "kubeadmin", "kube-system", "kubeadmin", base64.StdEncoding.EncodeToString(hash)))
	}
	works := func(password string) bool {
		user, provider := verifyPassword(l, "kubeadmin", password)
		return user == kubeAdmin && provider == kubeAdmin
	}
	require.False(t, works(""))
	set("first")
	require.True(t, works("first"))
	require.NoError(t, l.Begin(t.Context(), resources.Session{User: kubeAdmin, Provider: kubeAdmin, Hash: "sha256~a", Expires: time.Now().Add(time.Hour)}))
	require.Equal(t, []string{"cluster-admin"}, l.RolesOf("", kubeAdmin, ""))
	set("second")
	require.Equal(t, []bool{false, true}, []bool{works("first"), works("second")})
	require.Empty(t, l.Sessions(), "a session by the old password has ended")
}
