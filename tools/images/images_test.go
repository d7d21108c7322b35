package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// hello is a program that says who it is and what it may write.
const hello = `package main

import (
	"fmt"
	"os"
)

func main() {
	_, roots := os.Stat("/etc/ssl/certs/ca-certificates.crt")
	fmt.Println(os.Args[0], os.Getuid() != 0, roots == nil, os.WriteFile("/work/x", nil, 0o600) == nil, os.WriteFile("/usr/bin/x", nil, 0o600) == nil)
}
`

// buildHello builds the program as ocpctl's programs are built, without cgo.
func buildHello(t *testing.T) string {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "main.go"), []byte(hello), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module hello\n\ngo 1.26\n"), 0o600))
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-o", "hello", ".")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "CGO_ENABLED=0")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	return filepath.Join(dir, "hello")
}

func build(t *testing.T, out string, more ...string) []byte {
	args := append([]string{"build", "-version", "v1.2.3", "-revision", "abc", "-created", "2026-01-31T12:00:00Z", "-out", out, "-dir", "/work"}, more...)
	require.NoError(t, run(args))
	raw, err := os.ReadFile(out)
	require.NoError(t, err)
	return raw
}

func TestAnImageIsTheSameEveryTimeAndItsProgramRunsWithoutRoot(t *testing.T) {
	program, dir := buildHello(t), t.TempDir()
	installer := filepath.Join(dir, "oc")
	require.NoError(t, os.WriteFile(installer, []byte("oc"), 0o755))
	first := build(t, filepath.Join(dir, "a.oci.tar"), "-program", program, "-add", "/usr/bin/oc="+installer)
	second := build(t, filepath.Join(dir, "b.oci.tar"), "-program", program, "-add", "/usr/bin/oc="+installer)
	require.Equal(t, first, second)

	root := filepath.Join(dir, "root")
	require.NoError(t, run([]string{"unpack", "-archive", filepath.Join(dir, "a.oci.tar"), "-to", root}))
	mine := os.Geteuid() != 0 // whoever unpacks an image owns its files
	require.Equal(t, fmt.Sprintf("/usr/bin/hello true true true %t\n", mine), start(t, root, "/usr/bin/hello"))
	require.ErrorContains(t, run([]string{"unpack", "-archive", filepath.Join(dir, "a.oci.tar"), "-to", root}), "is not empty")

	img, err := readArchive(filepath.Join(dir, "a.oci.tar"))
	require.NoError(t, err)
	file, err := img.ConfigFile()
	require.NoError(t, err)
	require.Equal(t, "65532:65532", file.Config.User)
	require.Equal(t, []string{"/usr/bin/hello"}, file.Config.Entrypoint)
	require.Equal(t, "v1.2.3", file.Config.Labels["org.opencontainers.image.version"])
	require.Equal(t, "Apache-2.0", file.Config.Labels["org.opencontainers.image.licenses"])
}

func TestTheProgramsStartFromTheirImages(t *testing.T) {
	bin, dir := t.TempDir(), t.TempDir()
	cmd := exec.Command("go", "build", "-trimpath", "-o", bin, "./cmd/ocpctl-server", "./cmd/ocpctl-runner", "./cmd/ocpctl")
	cmd.Dir, cmd.Env = filepath.Join("..", ".."), append(os.Environ(), "CGO_ENABLED=0")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	for _, program := range []string{"ocpctl-server", "ocpctl-runner", "ocpctl"} {
		archive, root := filepath.Join(dir, program+".oci.tar"), filepath.Join(dir, program)
		build(t, archive, "-program", filepath.Join(bin, program))
		require.NoError(t, run([]string{"unpack", "-archive", archive, "-to", root}))
		require.Contains(t, start(t, root, "/usr/bin/"+program, "--version"), program)
	}
}

// start runs a program of an unpacked image as the image's user, with the image as its root.
func start(t *testing.T, root, program string, args ...string) string {
	cmd := exec.Command(program, args...)
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Chroot: root, Cloneflags: syscall.CLONE_NEWUSER,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 65532, HostID: os.Geteuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 65532, HostID: os.Getegid(), Size: 1}},
	}
	if os.Geteuid() == 0 { // root may write everywhere, so the program becomes somebody else
		cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: root, Credential: &syscall.Credential{Uid: 65532, Gid: 65532}}
		for dir := root; dir != "/"; dir = filepath.Dir(dir) {
			if strings.HasPrefix(dir, os.TempDir()+"/") {
				require.NoError(t, os.Chmod(dir, 0o755))
			}
		}
	}
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	return string(out)
}

func TestABaseStaysBelowTheProgram(t *testing.T) {
	program, dir := buildHello(t), t.TempDir()
	base := filepath.Join(dir, "base.oci.tar")
	build(t, base, "-program", program, "-add", "/usr/share/base="+program)
	out := filepath.Join(dir, "a.oci.tar")
	build(t, out, "-program", program, "-base", base)
	root := filepath.Join(dir, "root")
	require.NoError(t, run([]string{"unpack", "-archive", out, "-to", root}))
	require.FileExists(t, filepath.Join(root, "usr/share/base"))
	require.FileExists(t, filepath.Join(root, "usr/bin/hello"))
}

func TestWhatCannotBeBuiltIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"no command":        {nil, "give a command"},
		"another command":   {[]string{"push"}, "not a command"},
		"no program":        {[]string{"build", "-out", "x", "-version", "1"}, "-program"},
		"no time":           {[]string{"build", "-out", "x", "-version", "1", "-program", "x"}, "-created"},
		"a base by tag":     {[]string{"build", "-out", "x", "-version", "1", "-program", "x", "-created", "2026-01-31T12:00:00Z", "-base", "ubi9:latest"}, "by digest"},
		"a path of nothing": {[]string{"build", "-add", "x=y"}, "/path/in/image"},
	} {
		t.Run(name, func(t *testing.T) { require.ErrorContains(t, run(c.args), c.want) })
	}
}

func TestAnArchiveCannotWriteOutsideItsDirectory(t *testing.T) {
	dir := t.TempDir()
	l := newLayer(&recipe{})
	l.file("/../../escaped", 0o600, []byte("x"))
	made, err := l.close()
	require.NoError(t, err)
	raw, err := made.Uncompressed()
	require.NoError(t, err)
	require.Error(t, untar(raw, filepath.Join(dir, "root")))
	require.NoFileExists(t, filepath.Join(dir, "escaped"))
}
