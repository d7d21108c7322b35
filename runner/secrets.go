package runner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/crypto/ssh"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/internal/secret"
	"github.com/ocpctl/ocpctl/runner/cloud"
)

// lookUp resolves a reference and registers the value with the redactor before anything else can see it.
func (a *attempt) lookUp(ctx context.Context, what, ref string) (secret.Text, error) {
	value, err := secret.Lookup(ctx, ref)
	if ctx.Err() != nil {
		return value, context.Cause(ctx)
	}
	if err == nil && value.Empty() {
		err = fmt.Errorf("the value of secret reference %q is empty", ref)
	}
	if err != nil {
		return value, failure{
			Reason: "SecretMissing", Whose: contract.WhoseOurs, Message: fmt.Sprintf("%s could not be read: %v", what, err),
			Next:      "ask an administrator of this installation to provide the secret, or to let the runner's identity read it",
			Retryable: !strings.HasPrefix(ref, "file:"), // a missing file does not appear by waiting
		}
	}
	a.cfg.Redact.Add(value)
	return value, nil
}

// pullSecret looks the pull secret up, once, and refuses one that the installer would refuse: the installer's error prints it.
func (a *attempt) pullSecret(ctx context.Context) (secret.Text, error) {
	if !a.pull.Empty() {
		return a.pull, nil
	}
	pull, err := a.lookUp(ctx, "the pull secret", a.spec.PullSecretRef)
	if err != nil {
		return pull, err
	}
	a.cfg.Redact.AddPullSecret(pull)
	var shape struct {
		Auths map[string]map[string]any `json:"auths"`
	}
	if err := json.Unmarshal([]byte(pull.Reveal()), &shape); err != nil || len(shape.Auths) == 0 {
		return secret.Text{}, failure{
			Reason: "InvalidPullSecret", Whose: contract.WhoseOurs, Message: `the pull secret is not of the form {"auths":{"host":{"auth":"…"}}}`,
			Next: "ask an administrator of this installation to replace it with one from console.redhat.com/openshift/install/pull-secret",
		}
	}
	a.pull = pull
	return pull, nil
}

// registryFile writes the pull secret to a file for oc, so that it is not among its arguments.
func (a *attempt) registryFile(ctx context.Context) (string, error) {
	pull, err := a.pullSecret(ctx)
	if err != nil {
		return "", err
	}
	return a.secretFile("registry.json", pull)
}

// useKeys uses the cloud's keys from the reference or, without one, those that the runner was started with, and writes them to the file that
// the platform's programs read, if they read one.
func (a *attempt) useKeys(ctx context.Context) error {
	a.keys = a.cfg.Clouds[a.spec.Platform].Keys
	if ref := a.spec.CloudCredentialsRef; ref != "" {
		document, err := a.lookUp(ctx, "the cloud credentials", ref)
		if err != nil {
			return err
		}
		if a.keys, err = a.platform.ParseKeys(document); err != nil {
			return failure{
				Reason: "InvalidCloudCredentials", Whose: contract.WhoseOurs, Message: err.Error(),
				Next: "ask an administrator of this installation to correct the secret behind clouds." + a.spec.Platform + ".credentials_ref",
			}
		}
	}
	a.keys.Role = cloud.RoleOf(a.spec.CloudRole, a.spec.Cluster)
	if a.keys.Empty() && a.keys.Role.ARN == "" {
		return nil // the platform's own chain renews its credentials itself, in every program
	}
	a.cfg.Redact.Add(a.keys.Secret, a.keys.Token)
	name, content := a.platform.KeyFile(a.cfg.Env, a.keys)
	if name == "" {
		return nil
	}
	var err error
	a.keyFile, err = a.secretFile(name, content)
	return err
}

// sshKeyFile writes the private key for access to bootstrap machines to a file. Without one, or if it cannot be looked up, the path
// is empty: clusters are still installed and removed.
func (a *attempt) sshKeyFile(ctx context.Context) string {
	if a.spec.SSHKeyRef == "" {
		return ""
	}
	key, err := a.lookUp(ctx, "the SSH key", a.spec.SSHKeyRef)
	if err == nil {
		var path string
		if path, err = a.secretFile("ssh-key", secret.New(strings.TrimSpace(key.Reveal())+"\n")); err == nil {
			return path
		}
	}
	a.noteLine("the logs of bootstrap machines cannot be fetched: %v", err)
	return ""
}

// publicKey returns the key that the nodes accept: the requester's or, without one, the public half of ours.
func (a *attempt) publicKey(ctx context.Context) (string, error) {
	if a.spec.SSHKey != "" || a.spec.SSHKeyRef == "" {
		return a.spec.SSHKey, nil
	}
	private, err := a.lookUp(ctx, "the SSH key", a.spec.SSHKeyRef)
	if err != nil {
		return "", err
	}
	signer, err := ssh.ParsePrivateKey([]byte(private.Reveal() + "\n"))
	if err != nil {
		text := "it is not a private key in PEM format"
		var locked *ssh.PassphraseMissingError
		if errors.As(err, &locked) {
			text = "it is protected by a passphrase"
		}
		return "", failure{
			Reason: "InvalidSSHKey", Whose: contract.WhoseOurs, Message: "the SSH key cannot be used: " + text,
			Next: "ask an administrator of this installation to store a key without a passphrase (ssh-keygen -t rsa -N '')",
		}
	}
	return strings.TrimSpace(string(ssh.MarshalAuthorizedKey(signer.PublicKey()))), nil
}

// secretFile writes a secret for the attempt's own programs; it is removed at the end of the attempt.
func (a *attempt) secretFile(name string, value secret.Text) (string, error) {
	dir := filepath.Join(a.cfg.WorkDir, "secrets")
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("create a directory for secrets: %w", err)
	}
	if err := os.WriteFile(path, []byte(value.Reveal()), 0o600); err != nil {
		return "", fmt.Errorf("write %s: %w", name, err)
	}
	return path, nil
}
