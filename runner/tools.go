package runner

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/runner/installer"
)

// makeTools determines where the programs of this attempt come from. A teardown extracts the image that the install recorded.
func (a *attempt) makeTools() {
	image := a.spec.ReleaseImage
	if recorded := a.newestRecorded(); recorded.ReleaseDigest != "" {
		repository, _, _ := strings.Cut(image, "@")
		if repository == "" {
			repository = installer.DefaultRepository
		}
		image = repository + "@" + recorded.ReleaseDigest
	}
	a.tools = &installer.Tools{
		Dir: a.cfg.Installers, Version: a.spec.Version, Image: image, Into: filepath.Join(a.cfg.WorkDir, "tools"),
		Registry: a.registryFile, OnLine: a.addLine,
		Tool: installer.Tool{
			Home: filepath.Join(a.cfg.WorkDir, "home"), Env: a.cfg.Env, Cloud: a.platform.Environment(a.cfg.Env, a.keys, a.keyFile),
			Redact: a.cfg.Redact, StopWait: a.cfg.Timings.StopWait,
		},
	}
}

// newestRecorded returns the newest identity that says which installer made it.
func (a *attempt) newestRecorded() contract.Identity {
	for i := len(a.spec.Identities) - 1; i >= 0; i-- {
		if id := a.spec.Identities[i]; id.InstallerSHA256 != "" || id.ReleaseDigest != "" {
			return id
		}
	}
	return contract.Identity{}
}

// needTool finds the openshift-install of the attempt's version, and refuses an unknown version before anything was begun with it. A
// teardown uses the same program that installed, if it is available.
func (a *attempt) needTool(ctx context.Context) (err error) {
	tool, err := a.tools.Installed()
	if errors.Is(err, installer.ErrNoTool) && a.tools.Image != "" {
		tool, err = a.tools.Extracted(ctx)
	}
	if err != nil {
		return a.noTool(ctx, "openshift-install", err)
	}
	if a.checksum, err = tool.Checksum(); err != nil {
		return err
	}
	a.tool = tool
	want := a.newestRecorded().InstallerSHA256
	if want == "" || want == a.checksum {
		return nil
	}
	if same, err := a.tools.Extracted(ctx); err == nil {
		if sum, err := same.Checksum(); err == nil && sum == want {
			a.noteLine("openshift-install %s of this installation has changed since the cluster was installed; the original was extracted from its release", a.spec.Version)
			a.tool, a.checksum = same, sum
			return nil
		}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	a.noteLine("openshift-install %s is not the file that installed this cluster (SHA-256 %.12s… then, %.12s… now), and the original is not available; this one removes what it knows, and what is left is counted",
		a.spec.Version, want, a.checksum)
	return nil
}

// needRelease asks which release will be installed. A release that is not pinned by digest could not be removed with the same program
// later.
func (a *attempt) needRelease(ctx context.Context) error {
	image, err := a.tool.Release(ctx)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		return failure{
			Reason: "ReleaseUnknown", Whose: contract.WhoseOurs, Message: fmt.Sprintf("openshift-install does not say which release it installs (%v); nothing was created", err),
			Next: "ask an administrator of this installation to replace openshift-install " + a.spec.Version + " with one that was extracted from a release",
		}
	}
	if pinned := a.spec.ReleaseImage; pinned != "" && installer.Digest(pinned) != installer.Digest(image) {
		return failure{
			Reason: "ReleaseMismatch", Whose: contract.WhoseOurs,
			Message: fmt.Sprintf("openshift-install %s installs %s, but this installation pins %s; nothing was created", a.spec.Version, image, pinned),
			Next:    "ask an administrator of this installation to make runner.releases match the installers' directory",
		}
	}
	a.release, a.tools.Image = image, image
	return nil
}

// findCcoctl finds the version's ccoctl.
func (a *attempt) findCcoctl(ctx context.Context) (*installer.Tool, error) {
	tool, err := a.tools.CCOCtl(ctx)
	if err != nil {
		return nil, a.noTool(ctx, "ccoctl", err)
	}
	return tool, nil
}

// noTool explains that a program is not available.
func (a *attempt) noTool(ctx context.Context, program string, err error) error {
	var said failure
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.As(err, &said):
		return said
	case !errors.Is(err, installer.ErrNoTool):
		return failure{
			Reason: "ToolsUnavailable", Whose: contract.WhoseOurs, Retryable: true,
			Message: fmt.Sprintf("%s %s could not be extracted from its release image: %v", program, a.spec.Version, err),
			Next:    "try again later; if it happens again, ask an administrator to check the registry, the pull secret, and oc in the installers' directory",
		}
	}
	known := "none"
	if versions := a.tools.Known(); len(versions) > 0 {
		known = strings.Join(versions, ", ")
	}
	return failure{
		Reason: "UnknownVersion", Whose: contract.WhoseOurs,
		Message: fmt.Sprintf("this installation has no %s for version %s (%v); available versions: %s", program, a.spec.Version, err, known),
		Next: fmt.Sprintf("choose one of these, or ask an administrator to add %s/%s to the installers' directory, or oc and a release image under runner.releases",
			a.spec.Version, program),
	}
}
