package devstack

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	_ "embed"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"text/template"

	"golang.org/x/crypto/ssh"

	"github.com/ocpctl/ocpctl/devstack/installer"
	"github.com/ocpctl/ocpctl/devstack/must"
	"github.com/ocpctl/ocpctl/profiles"
)

//go:embed server.yaml.tmpl
var serverConfig string

// layOut creates the folders, the secrets and the installers' folder. It leaves existing ones unchanged.
func (h *Stack) layOut(context.Context) (err error) {
	defer must.Catch(&err)
	for _, dir := range []string{"", "secrets", "tokens", "log", "work"} {
		must.Do(os.MkdirAll(h.path(dir), 0o711)) // PostgreSQL's account must reach its folder
	}
	hubKeys := ""
	if h.Hub != nil {
		hubKeys = h.Hub.Credentials()
	}
	for name, value := range map[string]string{
		"hub-credentials": hubKeys,
		"github-webhook":  h.Secrets.Webhook, "github-client": h.Secrets.GitHubClient, "slack-signing": h.Secrets.Slack, "slack-bot": h.Secrets.SlackBot, "slack-app": h.Secrets.SlackApp, "pull-secret": h.Secrets.Pull,
		"database-url":       fmt.Sprintf("postgres://postgres@127.0.0.1:%d/postgres?sslmode=disable", h.Ports.Postgres),
		"aws-credentials":    fmt.Sprintf("[default]\naws_access_key_id = %s\naws_secret_access_key = %s", AccessKey, h.Secrets.CloudKey),
		"runner-credentials": fmt.Sprintf("[default]\naws_access_key_id = %s\naws_secret_access_key = %s", RunnerKey, h.Secrets.RunnerKey),
		"cloud-credentials":  fmt.Sprintf(`{"aws_access_key_id":%q,"aws_secret_access_key":%q}`, RunnerKey, h.Secrets.RunnerKey),
		"ibm-credentials":    fmt.Sprintf(`{"ibmcloud_api_key":%q}`, h.Secrets.IBMKey),
		"second-credentials": fmt.Sprintf(`{"aws_access_key_id":%q,"aws_secret_access_key":%q}`, SecondKey, SecondSecret),
		"scan-credentials":   fmt.Sprintf(`{"aws_access_key_id":%q,"aws_secret_access_key":%q}`, ScanKey, h.Secrets.ScanKey),
	} {
		must.Do(os.WriteFile(h.path("secrets", name), []byte(value+"\n"), 0o600))
	}
	for name, encode := range map[string]func(ed25519.PrivateKey) (*pem.Block, error){
		"status-key.pem":  pkcs8, // signs the attempts' tokens, so that a restarted server recognises its runners
		"session-key.pem": pkcs8, // signs people's sessions, so that they survive a restart
		"ssh-key":         openSSH,
	} {
		must.Do(keyFile(h.path("secrets", name), encode))
	}
	must.Do(errors.Join(h.installers(), h.catalogue()))
	return errors.Join(h.share(), h.writeConfig(), h.writeEnvironment())
}

// keyFile creates a private key, once.
func keyFile(path string, encode func(ed25519.PrivateKey) (*pem.Block, error)) (err error) {
	defer must.Catch(&err)
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	_, key := must.Get2(ed25519.GenerateKey(rand.Reader))
	block := must.Get(encode(key))
	return os.WriteFile(path, pem.EncodeToMemory(block), 0o600)
}

func pkcs8(key ed25519.PrivateKey) (*pem.Block, error) {
	der, err := x509.MarshalPKCS8PrivateKey(key)
	return &pem.Block{Type: "PRIVATE KEY", Bytes: der}, err
}

func openSSH(key ed25519.PrivateKey) (*pem.Block, error) {
	return ssh.MarshalPrivateKey(key, "ocpctl demo")
}

// installers puts the stand-ins into the folders where openshift-install, ccoctl and oc of every allowed version are looked for.
func (h *Stack) installers() (err error) {
	defer must.Catch(&err)
	catalogue := must.Get(profiles.Embedded())
	for _, name := range catalogue.Names() {
		profile, _ := catalogue.Get(name)
		versions := profile.Versions.Allow
		if h.Real != "" {
			versions = append(versions, installer.RealVersion)
		}
		for _, version := range versions {
			for _, tool := range []string{"openshift-install", "ccoctl", "oc"} {
				must.Do(h.tool(version, tool))
			}
		}
	}
	return nil
}

func (h *Stack) tool(version, name string) error {
	link := h.path("installers", version, name)
	if err := os.MkdirAll(filepath.Dir(link), 0o755); err != nil {
		return err
	}
	if err := os.Remove(link); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	bin := h.Bin
	if h.Kubernetes {
		bin = programsInPod
	}
	return os.Symlink(filepath.Join(bin, name), link)
}

// writeConfig writes the configuration of every server.
func (h *Stack) writeConfig() (err error) {
	defer must.Catch(&err)
	for _, s := range h.Servers {
		tmpl := must.Get(template.New("server.yaml").Parse(s.template))
		ports := h.Ports
		ports.Public, ports.Private = s.public, s.private
		var out bytes.Buffer
		must.Do(tmpl.Execute(&out, struct {
			*Stack
			Ports Ports
			Bin   string
			runnerConfig
		}{h, ports, s.bin, h.runnerConfig()}))
		must.Do(os.WriteFile(s.config, out.Bytes(), 0o600))
	}
	return nil
}
