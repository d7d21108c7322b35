// Package terraform_test checks deploy/terraform with OpenTofu: its format, its types against the schema of the AWS provider, and its
// own tests with simulated answers of AWS. It is make test-terraform, and not part of make test, because OpenTofu takes minutes to
// build.
package terraform_test

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const version = "6.25.0" // of the provider whose schema is in provider/schema.json

// checkout is a copy of deploy with OpenTofu and the provider beside it.
type checkout struct {
	t      *testing.T
	tofu   string // program
	config string // file
	module string // folder
}

func open(t *testing.T) checkout {
	t.Helper()
	dir := t.TempDir()
	w := checkout{t: t, tofu: filepath.Join(dir, "tofu"), config: filepath.Join(dir, "tofu.rc"), module: filepath.Join(dir, "deploy", "terraform")}
	w.run(".", "go", "build", "-o", w.tofu, "github.com/opentofu/opentofu/cmd/tofu")
	provider := filepath.Join(dir, "mirror", "registry.opentofu.org", "hashicorp", "aws", version, runtime.GOOS+"_"+runtime.GOARCH, "terraform-provider-aws_v"+version)
	w.run("provider", "go", "build", "-o", provider, ".")
	require.NoError(t, os.WriteFile(w.config, []byte("disable_checkpoint = true\nprovider_installation {\n  filesystem_mirror {\n    path = \""+filepath.Join(dir, "mirror")+"\"\n  }\n}\n"), 0o600))
	require.NoError(t, os.CopyFS(filepath.Join(dir, "deploy"), os.DirFS(filepath.Join("..", "..", "deploy"))))
	return w
}

// run returns a program's output; it must succeed.
func (w checkout) run(dir, program string, args ...string) string {
	w.t.Helper()
	out, err := w.try(dir, program, args...)
	require.NoError(w.t, err, out)
	return out
}

func (w checkout) try(dir, program string, args ...string) (string, error) {
	cmd := exec.CommandContext(w.t.Context(), program, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "TF_CLI_CONFIG_FILE="+w.config)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// change replaces text in every file of the copy with the ending.
func (w checkout) change(ending, old, by string) {
	w.t.Helper()
	changed := 0
	require.NoError(w.t, filepath.WalkDir(w.module, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ending) {
			return err
		}
		raw, err := os.ReadFile(path)
		if err != nil || !strings.Contains(string(raw), old) {
			return err
		}
		changed++
		return os.WriteFile(path, []byte(strings.ReplaceAll(string(raw), old, by)), 0o600)
	}))
	require.NotZero(w.t, changed, "no file contains %q", old)
}

func TestTheModuleIsFormattedValidAndPassesItsTests(t *testing.T) {
	w := open(t)
	require.Empty(t, w.run(w.module, w.tofu, "fmt", "-check", "-recursive"))

	example := filepath.Join(w.module, "examples", "complete")
	w.run(example, w.tofu, "init", "-backend=false", "-no-color")
	require.Contains(t, w.run(example, w.tofu, "validate", "-no-color"), "The configuration is valid")

	// OpenTofu removes what a test created, also what nothing may remove.
	w.change("bucket.tf", "prevent_destroy = true", "prevent_destroy = false")
	w.run(w.module, w.tofu, "init", "-backend=false", "-no-color")
	t.Log(w.run(w.module, w.tofu, "test", "-no-color"))

	// The schema is no empty one: each of these is refused.
	for _, c := range []struct{ old, by, complaint string }{
		{"deletion_protection ", "deletion_protected ", `An argument named "deletion_protected" is not expected here`},
		{"status = \"Enabled\"", "", `The argument "status" is required`},
		{"aws_kms_key.operate.arn", "aws_kms_key.operates.arn", "Reference to undeclared resource"},
		{"aws_kms_key.artifacts.arn", "aws_kms_key.artifacts.name", "Unsupported attribute"},
		{"multi_az               = var.database.multi_az", "multi_az               = [1]", "Incorrect attribute value type"},
	} {
		w.change(".tf", c.old, c.by)
		out, err := w.try(example, w.tofu, "validate", "-no-color")
		require.Error(t, err, c.by)
		require.Contains(t, strings.Join(strings.Fields(out), " "), c.complaint)
		w.restore()
	}
}

// restore undoes changes of the module's own files.
func (w checkout) restore() {
	w.t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "..", "deploy", "terraform", "*.tf"))
	require.NoError(w.t, err)
	for _, from := range files {
		raw, err := os.ReadFile(from)
		require.NoError(w.t, err)
		require.NoError(w.t, os.WriteFile(filepath.Join(w.module, filepath.Base(from)), raw, 0o600))
	}
}
