package installer

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// environment returns a tool's environment: the runner's credentials and certificates, directories for everything that it writes
// below Home, and nothing that would change what is installed.
func (t *Tool) environment() ([]string, error) {
	tmp, cache := filepath.Join(t.Home, "tmp"), filepath.Join(t.Home, "cache")
	if err := errors.Join(os.MkdirAll(tmp, 0o700), os.MkdirAll(cache, 0o700)); err != nil {
		return nil, fmt.Errorf("create the installer's directories: %w", err)
	}
	env := map[string]string{}
	for _, pair := range t.Env {
		key, value, _ := strings.Cut(pair, "=")
		if handedOn(key) && (t.Credentials == "" || !aboutCredentials(key)) {
			env[key] = value
		}
	}
	// The SDK reads its files under HOME, which is changed.
	if home := valueOf(t.Env, "HOME"); home != "" {
		for key, name := range map[string]string{"AWS_SHARED_CREDENTIALS_FILE": "credentials", "AWS_CONFIG_FILE": "config"} {
			if _, set := env[key]; !set {
				env[key] = filepath.Join(home, ".aws", name)
			}
		}
	}
	if t.Credentials != "" { // only these keys: a profile in a config file could assume a role with them
		env["AWS_SHARED_CREDENTIALS_FILE"], env["AWS_CONFIG_FILE"] = t.Credentials, os.DevNull
	}
	env["HOME"], env["TMPDIR"], env["XDG_CACHE_HOME"] = t.Home, tmp, cache
	env["AWS_EC2_METADATA_DISABLED"] = "true"
	env["OPENSHIFT_INSTALL_INVOKER"] = "ocpctl"
	pairs := make([]string, 0, len(env))
	for key, value := range env {
		pairs = append(pairs, key+"="+value)
	}
	slices.Sort(pairs)
	return pairs, nil
}

// handedOn is the allow-list. OPENSHIFT_INSTALL_* is left out on purpose: PRESERVE_BOOTSTRAP leaks a machine.
func handedOn(key string) bool {
	switch key {
	case "PATH", "SSL_CERT_FILE", "SSL_CERT_DIR", "HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY", "https_proxy", "http_proxy", "no_proxy", "OCPCTL_ATTEMPT":
		return true
	}
	return strings.HasPrefix(key, "AWS_") || strings.HasPrefix(key, "OCPCTL_STANDIN_")
}

// aboutCredentials matches variables that would pass keys in the environment or override those in the file.
func aboutCredentials(key string) bool {
	switch key {
	case "AWS_ACCESS_KEY_ID", "AWS_ACCESS_KEY", "AWS_SECRET_ACCESS_KEY", "AWS_SECRET_KEY", "AWS_SESSION_TOKEN", "AWS_SECURITY_TOKEN",
		"AWS_PROFILE", "AWS_DEFAULT_PROFILE", "AWS_ROLE_ARN", "AWS_ROLE_SESSION_NAME", "AWS_WEB_IDENTITY_TOKEN_FILE":
		return true
	}
	return strings.HasPrefix(key, "AWS_CONTAINER_")
}

func valueOf(env []string, key string) string {
	for _, pair := range env {
		if value, ok := strings.CutPrefix(pair, key+"="); ok {
			return value
		}
	}
	return ""
}
