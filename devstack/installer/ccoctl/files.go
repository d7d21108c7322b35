package ccoctl

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/big"
	"os"
	"path/filepath"

	"go.yaml.in/yaml/v3"

	"github.com/ocpctl/ocpctl/devstack/installer/release"
	"github.com/ocpctl/ocpctl/devstack/installer/resources"
	"github.com/ocpctl/ocpctl/devstack/installer/resources/ibmcloud"
	"github.com/ocpctl/ocpctl/devstack/must"
)

const (
	privateKey = "serviceaccount-signer.private"
	publicKey  = "serviceaccount-signer.public"
	tokenPath  = "/var/run/secrets/openshift/serviceaccount/token"
)

// keyBits is the smallest size that Go allows: nobody signs with this key, and the real tool's 4096 bits take a second.
const keyBits = 1024

func (r *run) path(parts ...string) string {
	return filepath.Join(append([]string{r.absolute}, parts...)...)
}

func (r *run) folders() error {
	for _, dir := range []string{"", "manifests", "tls"} {
		if err := os.MkdirAll(r.path(dir), 0o700); err != nil {
			return fmt.Errorf("failed to create target directory at %s: %w", r.path(dir), err)
		}
	}
	return nil
}

func (r *run) save(data []byte, parts ...string) error {
	return os.WriteFile(r.path(parts...), data, 0o600)
}

// keys creates the key pair that signs the operators' tokens, unless an earlier call did, copies it for the installer, and returns
// the public half.
func (r *run) keys() (_ []byte, err error) {
	defer must.Catch(&err)
	private, err := os.ReadFile(r.path(privateKey))
	switch {
	case err == nil:
		r.log.Printf("Using existing RSA keypair found at %s", r.path(privateKey))
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	default:
		private = must.Get(r.newKeys())
	}
	r.log.Print("Copying signing key for use by installer")
	must.Do(r.save(private, "tls", "bound-service-account-signing-key.key"))
	if r.publicKey != "" {
		return os.ReadFile(r.publicKey)
	}
	return os.ReadFile(r.path(publicKey))
}

func (r *run) newKeys() (private []byte, err error) {
	defer must.Catch(&err)
	r.log.Print("Generating RSA keypair")
	key := must.Get(rsa.GenerateKey(rand.Reader, keyBits))
	private = pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
	public := must.Get(x509.MarshalPKIXPublicKey(&key.PublicKey))
	r.log.Printf("Writing private key to %s", r.path(privateKey))
	must.Do(r.save(private, privateKey))
	r.log.Printf("Writing public key to %s", r.path(publicKey))
	return private, r.save(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public}), publicKey)
}

func discovery(issuer string) string {
	return fmt.Sprintf(`{"issuer":%q,"jwks_uri":%q,"response_types_supported":["id_token"],"subject_types_supported":["public"],`+
		`"id_token_signing_alg_values_supported":["RS256"],"claims_supported":["aud","exp","sub","iat","iss","sub"]}`, issuer, issuer+"/keys.json")
}

// keySet returns the public key as a JSON web key set.
func keySet(public []byte) (_ string, err error) {
	defer must.Catch(&err)
	block, _ := pem.Decode(public)
	must.FailIf(block == nil, "error decoding PEM file")
	parsed, err := x509.ParsePKIXPublicKey(block.Bytes)
	must.Wrap(err, "error parsing key content")
	key, ok := parsed.(*rsa.PublicKey)
	must.FailIf(!ok, "public key is not of type RSA")
	encode := base64.RawURLEncoding.EncodeToString
	id := sha256.Sum256(block.Bytes)
	raw, err := json.Marshal(map[string]any{"keys": []map[string]string{{
		"use": "sig", "kty": "RSA", "alg": "RS256", "kid": encode(id[:]), "n": encode(key.N.Bytes()), "e": encode(big.NewInt(int64(key.E)).Bytes()),
	}}})
	return string(raw), err
}

// credentialsRequest is the part of a request that ccoctl reads.
type credentialsRequest struct {
	Kind     string
	Metadata struct{ Name, Namespace string }
	Spec     struct {
		ProviderSpec struct {
			Kind             string
			StatementEntries []struct {
				Effect   string
				Action   []string
				Resource string
			} `yaml:"statementEntries"`
			Policies []ibmcloud.Policy
		} `yaml:"providerSpec"`
		SecretRef           struct{ Name, Namespace string } `yaml:"secretRef"`
		ServiceAccountNames []string                         `yaml:"serviceAccountNames"`
	}
}

// roles creates a role and a Secret's manifest for each request in the folder, in the order of the file names.
func (r *run) roles(ctx context.Context, id *resources.Identity, provider string) (err error) {
	defer must.Catch(&err)
	requests, err := readRequests(r.requests)
	must.Wrap(err, "failed to process files containing CredentialsRequests")
	for _, request := range requests {
		spec := request.Spec
		must.FailIf(spec.ProviderSpec.Kind != "AWSProviderSpec",
			"CredentialsRequest %s/%s is not of type AWS", request.Metadata.Namespace, request.Metadata.Name)
		if len(spec.ServiceAccountNames) == 0 {
			return errors.New("CredentialsRequest must provide ServieAccounts to bind the Role policy to") // spelt like this in the real tool
		}
		policy := must.Get(json.Marshal(map[string]any{"Version": "2012-10-17", "Statement": spec.ProviderSpec.StatementEntries}))
		arn := must.Get(id.CreateRole(ctx, provider, resources.Access{
			Namespace: spec.SecretRef.Namespace, Secret: spec.SecretRef.Name, ServiceAccounts: spec.ServiceAccountNames, Policy: string(policy), Boundary: r.boundary,
		}))
		must.Do(r.secret(spec.SecretRef.Namespace, spec.SecretRef.Name, arn))
	}
	return nil
}

func (r *run) secret(namespace, name, arn string) error {
	file := release.Request{Namespace: namespace, Secret: name}.File()
	err := r.save(fmt.Appendf(nil, "apiVersion: v1\nstringData:\n  credentials: |-\n    [default]\n    sts_regional_endpoints = regional\n    role_arn = %s\n"+
		"    web_identity_token_file = %s\nkind: Secret\nmetadata:\n  name: %s\n  namespace: %s\ntype: Opaque\n", arn, tokenPath, name, namespace), "manifests", file)
	if err != nil {
		return err
	}
	r.log.Printf("Saved credentials configuration to: %s", r.path("manifests", file))
	return nil
}

func readRequests(dir string) (_ []credentialsRequest, err error) {
	defer must.Catch(&err)
	entries := must.Get(os.ReadDir(dir))
	var requests []credentialsRequest
	for _, entry := range entries {
		if entry.IsDir() {
			continue
		}
		raw := must.Get(os.ReadFile(filepath.Join(dir, entry.Name())))
		decoder := yaml.NewDecoder(bytes.NewReader(raw))
		for {
			var request credentialsRequest
			if err := decoder.Decode(&request); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				return nil, fmt.Errorf("failed to decode %s: %w", entry.Name(), err)
			}
			if request.Kind == "CredentialsRequest" {
				requests = append(requests, request)
			}
		}
	}
	return requests, nil
}
