// Package connect knows which server ocpctl talks to and who it is there. It keeps contexts in a file, and no secret: what
// proves who asks is made or read anew by every run, stays in memory, and is sent to the context's own server alone.
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

// The methods. None of them leaves anything behind.
const (
	AWS          Method = "aws"           // a signed GetCallerIdentity, exchanged for a token of minutes
	GitHub       Method = "github"        // the OIDC token of a GitHub Actions job
	TokenFile    Method = "token-file"    // a file that somebody else keeps fresh, e.g. a Kubernetes service account's
	TokenCommand Method = "token-command" // what a command prints
	given        Method = "OCPCTL_TOKEN"  // the environment's; no context can say so
)

// Methods lists what a context can say.
func Methods() []string {
	return []string{string(AWS), string(GitHub), string(TokenFile), string(TokenCommand)}
}

// Context is a server and how to sign in there.
type Context struct {
	Server       string `yaml:"server"`
	Auth         Method `yaml:"auth"`
	Audience     string `yaml:"audience,omitempty"`     // whom a proof is for; when empty, the server's address, for github what the server says
	TokenFile    string `yaml:"tokenFile,omitempty"`    // of token-file
	TokenCommand string `yaml:"tokenCommand,omitempty"` // of token-command: a line for sh
	AWSProfile   string `yaml:"awsProfile,omitempty"`   // of aws; the SDK's own choice when empty
	AWSRegion    string `yaml:"awsRegion,omitempty"`    // of aws: whose STS is asked
	CAFile       string `yaml:"caFile,omitempty"`       // whom the server's certificate is from, beside the machine's
}

// Config is the file with the contexts.
type Config struct {
	Current  string             `yaml:"current,omitempty"`
	Contexts map[string]Context `yaml:"contexts"`
}

// Path is where the contexts are kept: OCPCTL_CONFIG, or ocpctl/config.yaml where this person's configuration is.
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

// Load reads the contexts; a file that is not there holds none. It is read strictly.
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

// Save writes the contexts, readable for their owner alone and all at once.
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

// WriteFile replaces a file at once, readable for its owner alone.
func WriteFile(path string, raw []byte) error {
	draft, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*") // it is made 0600
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	defer os.Remove(draft.Name()) // gone already when all went well
	_, err = draft.Write(raw)
	if err = errors.Join(err, draft.Sync(), draft.Close()); err == nil {
		err = os.Rename(draft.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

// Names lists the contexts in order.
func (c Config) Names() []string { return slices.Sorted(maps.Keys(c.Contexts)) }

// Check says everything that is wrong with a context.
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
	if len(wrong) > 0 {
		return exit.With(exit.Usage, &exit.Problem{Title: "These settings cannot sign in.", Fields: wrong})
	}
	return nil
}

// badServer says why a token must not be sent there. Without TLS that is everywhere but on this machine.
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
