package runner

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"
	"time"

	"golang.org/x/crypto/bcrypt"

	"github.com/ocpctl/ocpctl/internal/artifacts"
	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/internal/secret"
	"github.com/ocpctl/ocpctl/runner/status"
)

// The ConfigMap with the certificates of whoever may sign the installer's kubeconfig. The API servers trust what it has within a minute, as
// after oc config new-admin-kubeconfig.
const (
	signersName      = "admin-kubeconfig-client-ca"
	signersNamespace = "openshift-config"
	signersKey       = "ca-bundle.crt"
)

const (
	installLasts = 10 * 365 * 24 * time.Hour // the installer's kubeconfig is valid for as long
	clockSkew    = time.Hour                 // of the cluster's clock
	proofs       = 3                         // answers in a row, because the cluster has several API servers
)

// replaceCredentials replaces the kubeconfig and the kubeadmin password that the installer made: whoever had them knows nothing that still works.
//
// The order is what makes it safe to die at any line. A new signer is trusted beside the old one, and a kubeconfig is stored only once the cluster
// accepts it, so the newest stored one always works. The server knows it before the old signer is removed: the next attempt is given one that works.
func (a *attempt) replaceCredentials(ctx context.Context) error {
	err := a.replaceInOrder(ctx)
	var said failure
	switch {
	case err == nil:
		a.noteLine("the kubeconfig and the kubeadmin password of the install are replaced, and the old kubeconfig is refused")
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.As(err, &said):
		return said
	}
	return failure{
		Reason: "CredentialsNotReplaced", Whose: contract.WhoseCloud, Retryable: true,
		Message: "the credentials of the install could not be replaced: " + strings.ReplaceAll(err.Error(), a.cfg.WorkDir, "…"),
		Next:    "ocpctl tries again; if it happens again, check that the cluster's API works: oc get configmap " + signersName + " -n " + signersNamespace,
	}
}

func (a *attempt) replaceInOrder(ctx context.Context) error {
	old, before := a.kubeconfig, ""
	a.say.Step(30, "replacing the installer's kubeconfig")
	if err := a.retryUntil(ctx, time.Now().Add(a.cfg.Timings.Reach), func() (err error) { before, err = a.readSigners(ctx); return err }); err != nil {
		return err
	}
	signer, kubeconfig, err := a.makeAdmin()
	if err != nil {
		return err
	}
	fresh, err := a.secretFile("kubeconfig-new", kubeconfig)
	if err != nil {
		return err
	}
	if err := a.writeSigners(ctx, strings.TrimRight(before, "\n")+"\n"+signer); err != nil {
		return err
	}
	if err := a.awaitSigner(ctx, fresh, true); err != nil {
		return err
	}
	password := newPassword()
	a.cfg.Redact.Add(password)
	if err := a.storeReplaced(ctx, kubeconfig, password); err != nil {
		return err
	}
	a.kubeconfig = fresh
	a.say.Step(50, "replacing the kubeadmin password")
	if err := a.replaceKubeadmin(ctx, password); err != nil {
		return err
	}
	a.say.Step(60, "waiting until the old kubeconfig is refused")
	if err := a.writeSigners(ctx, signer); err != nil {
		return err
	}
	if err := a.awaitSigner(ctx, old, false); err != nil {
		return err
	}
	return a.awaitSigner(ctx, fresh, true)
}

// makeAdmin makes a signer, and a kubeconfig of system:admin with a certificate from it. The signer's key is forgotten.
func (a *attempt) makeAdmin() (signer string, kubeconfig secret.Text, err error) {
	ca, caKey, err := issueCertificate(&x509.Certificate{
		Subject: pkix.Name{CommonName: fmt.Sprintf("admin-kubeconfig-signer-%d", a.spec.Number), OrganizationalUnit: []string{"ocpctl"}}, IsCA: true,
		BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}, nil, nil)
	if err != nil {
		return "", kubeconfig, err
	}
	admin, key, err := issueCertificate(&x509.Certificate{
		Subject:  pkix.Name{CommonName: "system:admin", Organization: []string{"system:masters"}},
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}, ca, caKey)
	if err != nil {
		return "", kubeconfig, err
	}
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return "", kubeconfig, err
	}
	written, err := a.withUser(object{"client-certificate-data": encodePEM("CERTIFICATE", admin.Raw), "client-key-data": encodePEM("EC PRIVATE KEY", der)})
	if err == nil {
		err = a.hideKeys(written)
	}
	signer = string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: ca.Raw}))
	return signer, secret.New(string(written)), err
}

// issueCertificate makes a key and a certificate for it that the parent signs; without a parent it signs itself.
func issueCertificate(template, parent *x509.Certificate, signer *ecdsa.PrivateKey) (*x509.Certificate, *ecdsa.PrivateKey, error) {
	now := time.Now().UTC()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	if template.NotBefore, template.NotAfter = now.Add(-clockSkew), now.Add(installLasts); parent == nil {
		parent, signer = template, key
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), signer)
	if err != nil {
		return nil, nil, err
	}
	made, err := x509.ParseCertificate(raw)
	return made, key, err
}

// encodePEM encodes as a kubeconfig does.
func encodePEM(kind string, der []byte) string {
	return base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
}

// readSigners returns the certificates that the ConfigMap has. They are no secret, but look as if they were: the redactor would mask them.
func (a *attempt) readSigners(ctx context.Context) (string, error) {
	raw, err := a.askSecret(ctx, "get", "configmaps", signersName, "-n", signersNamespace, "-o", "json")
	if err != nil {
		return "", err
	}
	var config struct{ Data map[string]string }
	if json.Unmarshal([]byte(raw.Reveal()), &config) != nil || config.Data[signersKey] == "" {
		return "", errors.New("the ConfigMap " + signersName + " has no certificates")
	}
	return config.Data[signersKey], nil
}

func (a *attempt) writeSigners(ctx context.Context, signers string) error {
	return a.patchData(ctx, object{signersKey: signers}, "configmaps", signersName, "-n", signersNamespace)
}

// awaitSigner waits until the cluster accepts a kubeconfig, or refuses it, several times in a row.
func (a *attempt) awaitSigner(ctx context.Context, kubeconfig string, accepted bool) error {
	defer func(own string) { a.kubeconfig = own }(a.kubeconfig)
	a.kubeconfig = kubeconfig
	until := time.Now().Add(a.cfg.Timings.Reach)
	for seen := 0; ; {
		_, err := a.readSigners(ctx)
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case accepted && err == nil, !accepted && errors.Is(err, errRefusedByOC):
			if seen++; seen == proofs {
				return nil
			}
		case time.Now().After(until) && accepted:
			return fmt.Errorf("the cluster does not accept the new kubeconfig: %w", err)
		case time.Now().After(until):
			return errors.New("the cluster does not refuse the old kubeconfig, although its signer is removed")
		default:
			seen = 0
		}
		if err := status.Sleep(ctx, a.cfg.Timings.RetryMin); err != nil {
			return err
		}
	}
}

// storeReplaced stores the new credentials, and waits until the server refers to them.
func (a *attempt) storeReplaced(ctx context.Context, kubeconfig, password secret.Text) error {
	at := a.cfg.Now().UTC()
	for name, value := range map[string]secret.Text{artifacts.Kubeconfig: kubeconfig, artifacts.Kubeadmin: password} {
		if err := a.keepArtifact(ctx, artifacts.CredentialKey(a.spec.Cluster, a.spec.Number, at, name), []byte(value.Reveal()), a.cfg.Timings.Save); err != nil {
			return err
		}
	}
	if !a.say.deliverFact(ctx, contract.Report{ReplacedAt: at}) {
		return errors.New("the server did not take note of the new ones, so the old ones still work")
	}
	return nil
}

// newPassword returns a password in the form of the installer's: four groups of five.
func newPassword() secret.Text {
	text := rand.Text()
	return secret.New(text[:5] + "-" + text[5:10] + "-" + text[10:15] + "-" + text[15:20])
}

// replaceKubeadmin changes the hash in the Secret. It is patched in place: OpenShift's OAuth server ignores a Secret that is more than an hour
// younger than its namespace. Without the Secret, whoever removed it closed this way in.
func (a *attempt) replaceKubeadmin(ctx context.Context, password secret.Text) error {
	hash, err := bcrypt.GenerateFromPassword([]byte(password.Reveal()), bcrypt.DefaultCost)
	if err != nil {
		return fmt.Errorf("hash the kubeadmin password: %w", err)
	}
	encoded := base64.StdEncoding.EncodeToString(hash)
	a.cfg.Redact.Add(secret.New(string(hash)), secret.New(encoded))
	err = a.patchData(ctx, object{"kubeadmin": encoded}, "secrets", "kubeadmin", "-n", "kube-system")
	if err != nil && strings.Contains(err.Error(), "(NotFound)") {
		a.noteLine("the cluster has no Secret kubeadmin any more, so nobody can sign in with a password of the install")
		return nil
	}
	return err
}

// patchData changes the data of an object that exists. The change is in a file, so that it is not among the arguments of a process.
func (a *attempt) patchData(ctx context.Context, data object, what ...string) error {
	change, err := json.Marshal(object{"data": data})
	if err != nil {
		return err
	}
	path, err := a.secretFile("patch.json", secret.New(string(change)))
	if err != nil {
		return err
	}
	return a.retryUntil(ctx, time.Now().Add(a.cfg.Timings.Reach), func() error {
		return a.listenToCluster(ctx, func(string) {}, append(append([]string{"patch"}, what...), "--type=merge", "--patch-file="+path)...)
	})
}
