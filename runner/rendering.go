package runner

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/ocpctl/ocpctl/internal/artifacts"
	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/internal/names"
	"github.com/ocpctl/ocpctl/internal/secret"
	"github.com/ocpctl/ocpctl/runner/installer"
)

// renderConfig writes a fresh install directory and reads the identity that the installer chose. The installer does not change the cloud
// here.
func (a *attempt) renderConfig(ctx context.Context) error {
	if a.dir != "" {
		if err := os.RemoveAll(a.dir); err != nil { // a discarded directory is never reused
			return fmt.Errorf("discard the stale install directory: %w", err)
		}
	}
	a.renders++
	a.dir, a.rendered = filepath.Join(a.cfg.WorkDir, fmt.Sprintf("install-%d", a.renders)), a.cfg.Now()
	if err := a.writeConfig(ctx); err != nil {
		return err
	}
	for _, target := range []string{"manifests", "ignition-configs"} {
		var said []string
		exit, err := a.tool.Run(ctx, installer.Command{
			Args: []string{"create", target, "--dir", a.dir, "--log-level=info"}, Deadline: a.cfg.Timings.Render,
			OnLine: func(line string) { said = append(said, line); a.addLine(line) },
		})
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil:
			return err
		case exit.Code != 0:
			if exit.TimedOut { // for an hour the installer repeats a call that AWS refuses because the keys have expired, and says nothing
				if _, err := a.cloud.Account(ctx); err != nil {
					said = append(said, "asked for its account, the cloud says: "+err.Error())
				}
			}
			return renderFailure(target, exit, said)
		}
		if target == "manifests" {
			if err := a.addCredentials(); err != nil {
				return err
			}
			if err := a.orderSpot(); err != nil {
				return err
			}
		}
	}
	return a.readIdentity(ctx)
}

// resourceGroup is the name of the resource group that was made for the cluster; empty: the platform has none.
func (a *attempt) resourceGroup() string {
	if a.spec.Platform != names.IBMCloud {
		return ""
	}
	return a.nameScope().ResourceGroup(names.Identity{CCOName: a.ccoName})
}

// renderFailure says why nothing was installed. Rendering queries the cloud like an install and fails for the same reasons.
func renderFailure(target string, exit installer.Exit, said []string) failure {
	f := installer.Explain(exit, said...)
	text := fmt.Sprintf("%s (openshift-install create %s, exit code %d, before anything was installed)", f.Message, target, exit.Code)
	if f.Line != "" {
		text += ". The installer said: " + f.Line
	}
	return failure{Reason: f.Reason, Whose: f.Whose, Message: text, Line: f.Raw, Next: f.Next, Retryable: f.Retryable}
}

// writeConfig adds the secrets to the frozen install-config. From here on the redactor knows them.
func (a *attempt) writeConfig(ctx context.Context) error {
	pull, err := a.pullSecret(ctx)
	if err != nil {
		return err
	}
	key, err := a.publicKey(ctx)
	if err != nil {
		return err
	}
	pasted := installer.Pasted{PullSecret: pull, SSHKey: key}
	if a.ccoName != "" {
		pasted.CredentialsMode = modeManual
		pasted.ResourceGroup = a.resourceGroup()
	}
	raw, err := installer.Paste(a.spec.InstallConfig, pasted)
	if err != nil {
		return failure{
			Reason: installer.InvalidInstallConfig, Whose: contract.WhoseOurs, Message: err.Error(),
			Next: "ask an administrator of this installation to correct the profile",
		}
	}
	record := filepath.Join(a.dir, artifacts.RecordDir)
	if err := os.MkdirAll(record, 0o750); err != nil {
		return fmt.Errorf("create the install directory: %w", err)
	}
	return errors.Join( // the installer consumes its own copy; the copy without secrets stays
		os.WriteFile(filepath.Join(a.dir, "install-config.yaml"), raw, 0o600),
		os.WriteFile(filepath.Join(record, "install-config.yaml"), []byte(a.spec.InstallConfig), 0o640),
	)
}

// readIdentity reads what the installer will tag everything with, and hides the password that it generated.
func (a *attempt) readIdentity(ctx context.Context) error {
	password, err := os.ReadFile(filepath.Join(a.dir, "auth", "kubeadmin-password"))
	if err != nil {
		return fmt.Errorf("read the installer's output: %w", err)
	}
	a.cfg.Redact.Add(secret.New(strings.TrimSpace(string(password))))
	raw, err := os.ReadFile(filepath.Join(a.dir, "metadata.json"))
	if err != nil {
		return fmt.Errorf("read the installer's output: %w", err)
	}
	id, err := a.readMetadata(raw)
	if err == nil {
		raw, err = a.completeMetadata(ctx, raw, id)
	}
	var explained failure
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.As(err, &explained):
		return explained
	case err != nil:
		return failure{
			Reason: "MetadataUnusable", Whose: contract.WhoseInstaller, Retryable: true, Message: err.Error() + ", so nothing was installed",
			Next: "try again later; if it happens again, ask an administrator to replace openshift-install " + a.spec.Version,
		}
	}
	a.identity = contract.Identity{
		InfraID: id.InfraID, ClusterUUID: id.ClusterUUID, CCOName: a.ccoName, Account: a.account, Region: a.spec.Region,
		ReleaseDigest: installer.Digest(a.release), InstallerSHA256: a.checksum, ResourceGroupID: a.groupID, Metadata: string(raw),
	}
	return a.writeRecord()
}

// completeMetadata compares what the installer looked up in the cloud with what the cloud says, and sets what the installer left empty because
// a look-up failed, which it does not tell: with an empty field, a destroyer leaves resources behind and says nothing.
func (a *attempt) completeMetadata(ctx context.Context, raw []byte, id names.Identity) ([]byte, error) {
	if a.spec.Platform != names.IBMCloud {
		return raw, nil
	}
	found, err := a.cloud.Found(ctx, a.cloudTarget())
	if err != nil {
		return nil, failure{
			Reason: "CloudNotCompared", Whose: contract.WhoseCloud, Retryable: true,
			Message: fmt.Sprintf("nothing was installed, because account and DNS zone in the installer's metadata.json could not be compared with the cloud: %v", err),
			Next: "try again later; if a call was refused, ask an administrator to allow it for the runner's credentials; " +
				"if several zones have the base domain, ask the DNS administrator to delete all but one of them",
		}
	}
	empty := a.nameScope().Missing(raw)
	raw, err = a.nameScope().Complete(raw, id, found)
	if err == nil {
		if still := a.nameScope().Missing(raw); len(still) > 0 {
			err = fmt.Errorf("it has no %s, and the cloud does not tell it", strings.Join(still, " and no "))
		}
	}
	if err != nil {
		return nil, fmt.Errorf("metadata.json cannot be used for a teardown of this cluster: %w", err)
	}
	if len(empty) > 0 {
		a.noteLine("the installer left %s of metadata.json empty; it was looked up and set", strings.Join(empty, " and "))
	}
	return raw, os.WriteFile(filepath.Join(a.dir, "metadata.json"), raw, 0o640)
}

// readMetadata reads the names that the installer chose, and refuses a document that a teardown of this cluster could not use: the
// server would refuse to record it.
func (a *attempt) readMetadata(raw []byte) (id names.Identity, err error) {
	id = names.Identity{CCOName: a.ccoName, Account: a.account}
	if id.InfraID, id.ClusterUUID, err = names.ReadIdentity(raw); err != nil {
		return id, errors.New("metadata.json cannot be read")
	}
	if !a.nameScope().IsInfraID(id.InfraID) {
		return id, fmt.Errorf("metadata.json names no infraID of this cluster (it says %.80q)", id.InfraID)
	}
	if err := a.nameScope().CheckMetadata(raw, id); err != nil {
		return id, fmt.Errorf("metadata.json cannot be used for a teardown of this cluster: %w", err)
	}
	return id, nil
}
