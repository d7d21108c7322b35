package script

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"

	"github.com/ocpctl/ocpctl/devstack/must"
)

// signingKey is the file with the key from ccoctl.
const signingKey = "bound-service-account-signing-key.key"

// takeCredentials reads what ccoctl created: Secrets among the manifests and the key in tls/.
func (r *run) takeCredentials(a *assets) (err error) {
	defer must.Catch(&err)
	names := must.Get(filepath.Glob(r.path("manifests", "*-credentials.yaml")))
	for _, name := range names {
		raw := must.Get(os.ReadFile(name))
		a.credentials = append(a.credentials, stateFile{Filename: "manifests/" + filepath.Base(name), Data: raw})
	}
	key, err := os.ReadFile(r.path("tls", signingKey))
	switch {
	case err == nil:
		a.signer = key
		must.Do(os.Remove(r.path("tls", signingKey)))
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	if len(names) == 0 && key == nil {
		return nil
	}
	return r.save(a)
}

var roleARN = regexp.MustCompile(`role_arn = (\S+)`)

// roleFor returns the role in an operator's Secret.
func (a *assets) roleFor(file string) (arn string, there bool) {
	for _, secret := range a.credentials {
		if m := roleARN.FindSubmatch(secret.Data); secret.Filename == "manifests/"+file && m != nil {
			return string(m[1]), true
		}
	}
	return "", false
}
