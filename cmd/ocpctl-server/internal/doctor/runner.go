package doctor

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ocpctl/ocpctl/internal/buildinfo"
	"github.com/ocpctl/ocpctl/internal/kinds"
)

// checkRunner checks what local runners need: their program, installers, work directory, and the way to the Status API.
func (d *doctor) checkRunner(ctx context.Context, f *findings) {
	if d.Kubernetes == nil {
		d.checkProgram(ctx, f)
		d.checkInstallers(f)
		d.workDir(f)
	}
	address := strings.TrimSuffix(d.Settings.Runner.StatusURL, "/")
	client, err := d.clientTrusting(d.Settings.Runner.StatusCAFile)
	if err != nil {
		f.fail("status-url", "Give a file with CA certificates (PEM) that this process can read.", "runner.status_ca_file: %s", err)
		return
	}
	answer, err := getWith(ctx, client, address+"/healthz")
	switch {
	case err != nil:
		f.fail("status-url", "Start a server with the role api, and check that runner.status_url ("+d.Settings.Origin("runner.status_url")+") leads to its listener for runners, and that runner.status_ca_file has the CA of its certificate.",
			"%s", err)
	case answer.StatusCode != http.StatusOK:
		f.fail("status-url", "Correct runner.status_url ("+d.Settings.Origin("runner.status_url")+"): it must lead to the listener for runners.",
			"%s/healthz answers %s", address, answer.Status)
	default:
		f.ok("status-url", "%s leads to a server", address)
		if answer.TLS != nil && len(answer.TLS.PeerCertificates) > 0 {
			d.checkExpiry(f, "status-certificate", "runner.status_url", answer.TLS.PeerCertificates[0])
		}
	}
}

// checkProgram runs ocpctl-runner, which must be the build of this program.
func (d *doctor) checkProgram(ctx context.Context, f *findings) {
	path := d.Settings.Runner.Program
	out, err := exec.CommandContext(ctx, path, "--version").Output()
	line := strings.TrimSpace(string(out))
	switch ours := buildinfo.Read().Line("ocpctl-runner"); {
	case err != nil:
		f.fail("program", "Correct runner.program ("+d.Settings.Origin("runner.program")+").", "run %s --version: %s", path, err)
	case line != ours:
		f.warn("program", "Install both programs from the same release.", "%s is another build than this program: %s", path, line)
	default:
		f.ok("program", "%s", line)
	}
}

// checkInstallers checks that every version of the catalogue can be installed: its programs are there, or oc and a pinned release.
func (d *doctor) checkInstallers(f *findings) {
	terms, err := d.loadCatalogue()
	if err != nil {
		f.skip("installers", "the catalogue is not valid")
		return
	}
	var versions, lacking []string
	for _, p := range listEnabled(terms) {
		if kinds.Can(p.Provisioner, kinds.Installer) {
			versions = append(versions, p.Versions.Allow...)
		}
	}
	slices.Sort(versions)
	versions = slices.Compact(versions)
	for _, version := range versions {
		if why := d.missingForVersion(version); why != "" {
			lacking = append(lacking, version+" "+why)
		}
	}
	if len(lacking) > 0 {
		f.fail("installers", "Put the programs into "+d.Settings.Runner.Installers+"/<version>, or pin the version in runner.releases; docs/configuration.md, \"Installer versions\".",
			"%s", strings.Join(lacking, "\n"))
		return
	}
	f.ok("installers", "%s can be installed", joinWords(versions))
}

// missingForVersion says what is missing for a version; empty: nothing.
func (d *doctor) missingForVersion(version string) string {
	folder := filepath.Join(d.Settings.Runner.Installers, version)
	var missing []string
	for _, tool := range []string{"openshift-install", "ccoctl", "oc"} {
		if !isExecutable(filepath.Join(folder, tool)) {
			missing = append(missing, tool)
		}
	}
	switch {
	case len(missing) == 0:
		return ""
	case d.Settings.Runner.Releases[version] == "":
		return fmt.Sprintf("lacks %s in %s, and has no release in runner.releases to extract from", joinWords(missing), folder)
	}
	if _, err := exec.LookPath("oc"); err == nil || isExecutable(filepath.Join(folder, "oc")) || isExecutable(filepath.Join(d.Settings.Runner.Installers, "oc")) {
		return ""
	}
	return "has a release in runner.releases, and there is no oc to extract it with"
}

func isExecutable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

// workDir checks that attempts can have directories, without making one: the server makes the directory itself.
func (d *doctor) workDir(f *findings) {
	dir := d.Settings.Runner.WorkDir
	info, err := os.Stat(dir)
	switch {
	case os.IsNotExist(err):
		f.ok("work-dir", "%s does not exist yet; the server makes it", dir)
	case err != nil:
		f.fail("work-dir", "Let this process use it, or correct runner.work_dir.", "%s", err)
	case !info.IsDir():
		f.fail("work-dir", "Correct runner.work_dir ("+d.Settings.Origin("runner.work_dir")+").", "%s is not a directory", dir)
	case info.Mode().Perm()&0o022 != 0:
		f.fail("work-dir", "chmod go-w "+dir, "%s can be written by other users of this machine (mode %04o)", dir, info.Mode().Perm())
	default:
		f.ok("work-dir", "%s", dir)
	}
}
