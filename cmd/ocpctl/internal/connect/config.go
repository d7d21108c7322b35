// Package connect determines which server ocpctl talks to and how it authenticates. It stores contexts in a file without secrets: the
// proof is made or read anew by every run, stays in memory, and is sent only to the context's own server. Only a sign-in through the
// browser is kept, in a file of its own.
package connect

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/exit"
)

// Method is how to sign in.
type Method string

// The methods. Only Browser stores anything.
const (
	Browser      Method = "browser"       // the server's own pages, on this machine or with a code on another
	AWS          Method = "aws"           // a signed GetCallerIdentity, exchanged for a short-lived token
	GitHub       Method = "github"        // the OIDC token of a GitHub Actions job
	TokenFile    Method = "token-file"    // a file that something else renews, e.g. a Kubernetes service account's
	TokenCommand Method = "token-command" // the output of a command
	given        Method = "OCPCTL_TOKEN"  // from the environment; not possible in a context
)

// Methods lists the methods that a context can have.
func Methods() []string {
	return []string{string(Browser), string(AWS), string(GitHub), string(TokenFile), string(TokenCommand)}
}

// Context is a server and how to sign in there.
type Context struct {
	Name         string `yaml:"-"` // in the file; empty: it is not from there
	Server       string `yaml:"server"`
	Auth         Method `yaml:"auth"`
	Audience     string `yaml:"audience,omitempty"`     // audience of a proof or token; empty: the server's URL
	TokenFile    string `yaml:"tokenFile,omitempty"`    // for token-file
	TokenCommand string `yaml:"tokenCommand,omitempty"` // for token-command: a line for sh
	AWSProfile   string `yaml:"awsProfile,omitempty"`   // for aws; empty: the SDK's default
	AWSRegion    string `yaml:"awsRegion,omitempty"`    // for aws: which STS endpoint is used
	CAFile       string `yaml:"caFile,omitempty"`       // CA certificates for the server's certificate, besides the machine's
}

// Config is the file with the contexts.
type Config struct {
	Current  string             `yaml:"current,omitempty"`
	Contexts map[string]Context `yaml:"contexts"`
}

// Path is the path of the file with the contexts: OCPCTL_CONFIG, or ocpctl/config.yaml in the user's configuration directory.
func Path(env func(string) string) string {
	if own := env("OCPCTL_CONFIG"); own != "" {
		return own
	}
	base := env("XDG_CONFIG_HOME")
	if !filepath.IsAbs(base) {
		base = filepath.Join(env("HOME"), ".config")
	}
	return filepath.Join(base, "ocpctl", "config.yaml")
}

// Load reads the contexts strictly; a missing file has none.
func Load(path string) (Config, error) {
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Config{Contexts: map[string]Context{}}, nil
	}
	if err != nil {
		return Config{}, fmt.Errorf("read the contexts: %w", err)
	}
	var c Config
	decoder := yaml.NewDecoder(bytes.NewReader(raw))
	decoder.KnownFields(true)
	if err := decoder.Decode(&c); err != nil && !errors.Is(err, io.EOF) {
		return Config{}, fmt.Errorf("read %s: %w; correct the file, or delete it and run ocpctl login again", path, err)
	}
	if c.Contexts == nil {
		c.Contexts = map[string]Context{}
	}
	return c, nil
}

// Save writes the contexts atomically, readable only by their owner.
func (c Config) Save(path string) error {
	raw, err := yaml.Marshal(c)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("save the contexts: %w", err)
	}
	return WriteFile(path, raw)
}

// WriteFile replaces a file atomically, readable only by its owner.
func WriteFile(path string, raw []byte) error {
	if _, err := SaveStream(path, bytes.NewReader(raw)); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

// SaveStream writes a stream of any size to a file, which appears only when it is complete and which only its owner can read.
func SaveStream(path string, from io.Reader) (int64, error) {
	draft, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*") // it is created with mode 0600
	if err != nil {
		return 0, err
	}
	defer os.Remove(draft.Name()) // already renamed if all went well
	size, err := io.Copy(draft, from)
	if err = errors.Join(err, draft.Sync(), draft.Close()); err != nil {
		return 0, err
	}
	return size, os.Rename(draft.Name(), path)
}

// Names lists the contexts in order.
func (c Config) Names() []string { return slices.Sorted(maps.Keys(c.Contexts)) }

// Check returns everything that is wrong with a context.
func (c Context) Check() error {
	var wrong []exit.Field
	if bad := badServer(c.Server); bad != "" {
		wrong = append(wrong, exit.Field{Name: "--server", Detail: bad, Accepted: []string{"https://ocpctl.example.com"}})
	}
	if !slices.Contains(Methods(), string(c.Auth)) {
		wrong = append(wrong, exit.Field{Name: "--auth", Detail: fmt.Sprintf("%q is not a sign-in method.", c.Auth), Accepted: Methods()})
	}
	for _, own := range []struct {
		flag, value string
		of          Method
	}{
		{"--token-file", c.TokenFile, TokenFile}, {"--token-command", c.TokenCommand, TokenCommand},
	} {
		if own.value == "" && c.Auth == own.of {
			wrong = append(wrong, exit.Field{Name: own.flag, Detail: fmt.Sprintf("Required with --auth %s.", own.of)})
		}
		if own.value != "" && c.Auth != own.of {
			wrong = append(wrong, exit.Field{Name: own.flag, Detail: fmt.Sprintf("Only valid with --auth %s, not with --auth %s.", own.of, c.Auth)})
		}
	}
	return exit.Wrong("These settings cannot sign in.", wrong)
}

// badServer says why a token must not be sent to an address. Without TLS only this machine is allowed.
func badServer(address string) string {
	u, err := url.Parse(address)
	switch {
	case address == "":
		return "Required."
	case err != nil, u.Host == "", u.Scheme != "https" && u.Scheme != "http", u.User != nil, u.RawQuery != "", u.Fragment != "":
		return fmt.Sprintf("%q is not a server address.", address)
	case u.Scheme == "http" && !thisMachine(u.Hostname()):
		return address + " does not use TLS. A token is never sent unencrypted to another machine."
	}
	return ""
}

func thisMachine(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || strings.HasSuffix(host, ".localhost") || ip != nil && ip.IsLoopback()
}
