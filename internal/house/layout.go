package house

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

	"github.com/ocpctl/ocpctl/profiles"
)

//go:embed server.yaml.tmpl
var serverConfig string

// layOut makes the folders, the secrets and the installers' folder. What is there already stays.
func (h *House) layOut(context.Context) error {
	for _, dir := range []string{"", "secrets", "tokens", "log", "work"} {
		if err := os.MkdirAll(h.path(dir), 0o711); err != nil {
			return err
		}
	}
	for name, value := range map[string]string{
		"github-webhook": WebhookSecret, "slack-signing": SlackSecret,
		"database-url": fmt.Sprintf("postgres://postgres@127.0.0.1:%d/postgres?sslmode=disable", h.Ports.Postgres),
		"pull-secret":  `{"auths":{"registry.example.com":{"auth":"ZGVtbzpkZW1vLXB1bGwtc2VjcmV0","email":"demo@example.com"}}}`,
	} {
		if err := os.WriteFile(h.path("secrets", name), []byte(value+"\n"), 0o600); err != nil {
			return err
		}
	}
	if err := h.statusKey(h.path("secrets", "status-key.pem")); err != nil {
		return err
	}
	if err := h.installers(); err != nil {
		return err
	}
	return h.writeConfig()
}

// statusKey makes the key that signs the attempts' tokens, once, so that a restarted server knows its runners.
func (h *House) statusKey(path string) error {
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return err
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	return os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), 0o600)
}

// installers puts the stand-ins where every allowed version's openshift-install, ccoctl and oc are looked for.
func (h *House) installers() error {
	catalogue, err := profiles.Embedded()
	if err != nil {
		return err
	}
	for _, name := range catalogue.Names() {
		profile, _ := catalogue.Get(name)
		for _, version := range profile.Versions.Allow {
			for _, tool := range []string{"openshift-install", "ccoctl", "oc"} {
				if err := h.tool(version, tool); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (h *House) tool(version, name string) error {
	link := h.path("installers", version, name)
	if err := os.MkdirAll(filepath.Dir(link), 0o755); err != nil {
		return err
	}
	if err := os.Remove(link); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.Symlink(filepath.Join(h.Bin, name), link)
}

func (h *House) writeConfig() error {
	tmpl, err := template.New("server.yaml").Parse(serverConfig)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	if err := tmpl.Execute(&out, h); err != nil {
		return err
	}
	return os.WriteFile(h.path("server.yaml"), out.Bytes(), 0o600)
}
