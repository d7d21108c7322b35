package installer

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// readEnvironment returns a tool's environment: the cloud's variables, the runner's certificates, directories for everything that it writes below
// Home, and nothing that would change what is installed.
func (t *Tool) readEnvironment() ([]string, error) {
	tmp, cache := filepath.Join(t.Home, "tmp"), filepath.Join(t.Home, "cache")
	if err := errors.Join(os.MkdirAll(tmp, 0o700), os.MkdirAll(cache, 0o700)); err != nil {
		return nil, fmt.Errorf("create the installer's directories: %w", err)
	}
	env := map[string]string{}
	for _, pair := range t.Env {
		key, value, _ := strings.Cut(pair, "=")
		if isHandedOn(key) {
			env[key] = value
		}
	}
	maps.Copy(env, t.Cloud)
	env["HOME"], env["TMPDIR"], env["XDG_CACHE_HOME"] = t.Home, tmp, cache
	env["OPENSHIFT_INSTALL_INVOKER"] = "ocpctl"
	pairs := make([]string, 0, len(env))
	for key, value := range env {
		pairs = append(pairs, key+"="+value)
	}
	slices.Sort(pairs)
	return pairs, nil
}

// isHandedOn is the allow-list. OPENSHIFT_INSTALL_* is left out on purpose: PRESERVE_BOOTSTRAP leaks a machine.
func isHandedOn(key string) bool {
	switch key {
	case "PATH", "SSL_CERT_FILE", "SSL_CERT_DIR", "HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY", "https_proxy", "http_proxy", "no_proxy", "OCPCTL_ATTEMPT":
		return true
	}
	return strings.HasPrefix(key, "OCPCTL_STANDIN_")
}

func valueOf(env []string, key string) string {
	for _, pair := range env {
		if value, ok := strings.CutPrefix(pair, key+"="); ok {
			return value
		}
	}
	return ""
}
