package runner

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sync"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/internal/duration"
	"github.com/ocpctl/ocpctl/internal/secret"
	"github.com/ocpctl/ocpctl/runner/installer"
	"github.com/ocpctl/ocpctl/runner/platform"
	"github.com/ocpctl/ocpctl/runner/status"
)

const ccoDeadline = 15 * time.Minute

// claimNames creates what lives outside the installer: on AWS the roles and the identity provider from which a cluster without permanent keys
// gets its credentials, on IBM Cloud its resource group and service IDs. Their name is recorded before the first of them exists, because the
// installer's teardown never removes them.
func (a *attempt) claimNames(ctx context.Context) error {
	if a.spec.CredentialsMode != modeManual {
		if err := a.requireRecord(ctx); err != nil {
			return err
		}
		a.noteLine("credentials mode %s: nothing is created outside the installer, so there is nothing to claim", cmp.Or(a.spec.CredentialsMode, modeMint))
		return nil
	}
	tool, err := a.recordAndExtract(ctx)
	if err != nil {
		return err
	}
	a.ccoName = a.nameScope().CCOName()
	claim := contract.Identity{
		CCOName: a.ccoName, Account: a.account, Region: a.spec.Region, ReleaseDigest: installer.Digest(a.release), InstallerSHA256: a.checksum,
	}
	if err := a.awaitAcknowledgement(ctx, contract.Record{Identity: claim}); err != nil {
		return err
	}
	a.cfg.Log.Info("ccoctl name recorded", "name", a.ccoName)
	if err := a.prepareCloud(ctx); err != nil {
		return err
	}
	if claim.ResourceGroupID = a.groupID; a.groupID != "" {
		if err := a.awaitAcknowledgement(ctx, contract.Record{Identity: claim}); err != nil {
			return err
		}
		a.cfg.Log.Info("resource group recorded", "name", a.ccoName, "id", a.groupID)
	}
	if err := a.createCredentials(ctx, tool); err != nil {
		return err
	}
	a.identity = claim // rendering replaces it; until then it says under which name ccoctl worked
	return a.tagCredentials(ctx)
}

// recordAndExtract stores the attempt's record, without which nothing is created, and reads meanwhile from the release what ccoctl needs.
func (a *attempt) recordAndExtract(ctx context.Context) (tool *installer.Tool, err error) {
	var extractErr error
	var together sync.WaitGroup
	together.Go(func() {
		if tool, extractErr = a.findCcoctl(ctx); extractErr == nil {
			extractErr = a.credentialsRequests(ctx)
		}
	})
	err = a.requireRecord(ctx)
	together.Wait()
	if err == nil {
		err = extractErr
	}
	return tool, err
}

// prepareCloud makes what ccoctl and the installer expect to exist. From here on resources may exist under the recorded name. The id of the
// resource group is recorded before anything is created in it: without a recorded id, a group of the name is empty.
func (a *attempt) prepareCloud(ctx context.Context) error {
	if a.api.LeaseOver() {
		a.api.Stop(status.ErrLeaseOver)
		return status.ErrLeaseOver
	}
	var err error
	a.groupID, err = a.cloud.Prepare(ctx, a.cloudTarget(), a.ccoName)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return failure{
			Reason: "CloudNotPrepared", Whose: contract.WhoseCloud, Retryable: true, Message: fmt.Sprintf("what the cluster is to be created in could not be made: %v", err),
			Next: "try again later; if it happens again, ask an administrator to give the runner's credentials the access in deploy/ibmcloud/policies/runner.json",
		}
	}
	return nil
}

// ccoDir is outside every install directory: what ccoctl created stays valid when a stale directory is rendered again.
func (a *attempt) ccoDir(name string) string { return filepath.Join(a.cfg.WorkDir, "cco", name) }

// credentialsRequests extracts what the release's operators request. It changes nothing outside.
func (a *attempt) credentialsRequests(ctx context.Context) error {
	config := a.ccoDir("install-config.yaml")
	if err := os.MkdirAll(a.ccoDir(""), 0o700); err != nil {
		return fmt.Errorf("create a directory for ccoctl: %w", err)
	}
	if err := os.WriteFile(config, []byte(a.spec.InstallConfig), 0o600); err != nil { // without secrets: oc only reads platform and capabilities
		return fmt.Errorf("write the install-config for oc: %w", err)
	}
	if err := a.tools.CredentialsRequests(ctx, a.ccoDir("credentials-requests"), "--included", "--install-config="+config); err != nil {
		return a.noTool(ctx, "oc", err)
	}
	return a.writeAddonRequests()
}

// createCredentials runs ccoctl. From its start on, resources may exist, so any exit except success needs a teardown by the recorded
// name.
func (a *attempt) createCredentials(ctx context.Context, tool *installer.Tool) error {
	if a.api.LeaseOver() {
		a.api.Stop(status.ErrLeaseOver)
		return status.ErrLeaseOver
	}
	var exit installer.Exit
	var said []string
	var err error
	for run := 1; ; run++ {
		exit, said, err = a.runCCO(ctx, tool)
		if err != nil || ctx.Err() != nil || exit.Code == 0 || run == ccoRuns || !slices.ContainsFunc(said, otherProviderGone.MatchString) {
			break
		}
		a.noteLine("ccoctl failed because another cluster's identity provider was just deleted; running it again (%d of %d)", run+1, ccoRuns)
		if status.Sleep(ctx, a.cfg.Timings.RetryMax) != nil {
			break // the switch below says why
		}
	}
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return err
	case exit.TimedOut:
		return ccoFailed(fmt.Sprintf("ccoctl did not finish within %s", duration.Format(ccoDeadline)))
	case exit.Code != 0:
		return explainCCO(exit, said)
	}
	return a.checkCredentials()
}

// ccoRuns is how often ccoctl is run at most in one attempt.
const ccoRuns = 3

// otherProviderGone matches ccoctl's error when an identity provider vanishes between its list of the account's providers and its
// look at each: the teardown of another cluster deletes them. Run again with the same name, ccoctl continues with what it created
// before.
var otherProviderGone = regexp.MustCompile(`failed to check existing Identity Provider .*NoSuchEntity`)

// runCCO runs ccoctl once and returns its output.
func (a *attempt) runCCO(ctx context.Context, tool *installer.Tool) (exit installer.Exit, said []string, err error) {
	exit, err = tool.Run(ctx, installer.Command{
		Args: a.platform.CreateCredentials(platform.Credentials{
			Name: a.ccoName, Region: a.spec.Region, Requests: a.ccoDir("credentials-requests"), Out: a.ccoDir("out"), Boundary: a.boundaryARN(),
		}),
		Deadline: ccoDeadline, OnLine: func(line string) { said = append(said, line); a.addLine(line) },
	})
	return exit, said, err
}

// explainCCO says why ccoctl failed.
func explainCCO(exit installer.Exit, said []string) failure {
	f, known := installer.ExplainCCO(said...)
	text := fmt.Sprintf("ccoctl ended with exit code %d: %s", exit.Code, f.Line)
	if !known {
		return ccoFailed(text)
	}
	return failure{Reason: f.Reason, Whose: f.Whose, Message: f.Message + " (" + text + ")", Line: f.Raw, Next: f.Next, Retryable: f.Retryable}
}

// checkCredentials checks that ccoctl wrote what the installer needs, and registers as secrets the signer's key, or the API keys in IBM Cloud's
// manifests.
func (a *attempt) checkCredentials() error {
	made, err := os.ReadDir(a.ccoDir("out/manifests"))
	if err != nil || len(made) == 0 {
		return ccoFailed("ccoctl succeeded, but wrote no manifests")
	}
	if !a.platform.SigningKey() {
		return a.hideServiceKeys(made)
	}
	key, err := os.ReadFile(a.ccoDir("out/tls/bound-service-account-signing-key.key"))
	if err != nil || len(key) == 0 {
		return ccoFailed("ccoctl succeeded, but wrote no signing key")
	}
	a.cfg.Redact.Add(secret.New(string(key)))
	if err := a.readRoles(made); err != nil {
		return err
	}
	if len(a.roles) == 0 {
		return ccoFailed("ccoctl succeeded, but its manifests name no role")
	}
	return nil
}

// hideServiceKeys registers the API keys of the operators' service IDs with the redactor (cloud-credential-operator
// pkg/cmd/provisioning/ibmcloud: ibmcloud_api_key of each Secret).
func (a *attempt) hideServiceKeys(manifests []os.DirEntry) error {
	for _, each := range manifests {
		raw, err := os.ReadFile(filepath.Join(a.ccoDir("out/manifests"), each.Name()))
		if err != nil {
			return fmt.Errorf("read what ccoctl wrote: %w", err)
		}
		var secrets struct {
			StringData struct {
				Key string `yaml:"ibmcloud_api_key"`
			} `yaml:"stringData"`
		}
		if err := yaml.Unmarshal(raw, &secrets); err != nil {
			return ccoFailed("ccoctl succeeded, but wrote a manifest that is no YAML: " + each.Name())
		}
		a.cfg.Redact.Add(secret.New(secrets.StringData.Key))
	}
	return nil
}

func ccoFailed(text string) failure {
	return failure{
		Reason: "CredentialsNotCreated", Whose: contract.WhoseOurs, Message: "the cluster's credentials could not be created: " + text, Retryable: true,
		Next: "try again later; if it happens again, ask an administrator to give the runner's credentials the permissions that ccoctl needs (AWS: deploy/terraform/policies/permissions.json lists them, and roles may need OCPCTL_PERMISSIONS_BOUNDARY; IBM Cloud: deploy/ibmcloud/policies/runner.json)",
	}
}

// addCredentials copies what ccoctl created to where the installer reads it, and the requests to where they are archived.
func (a *attempt) addCredentials() error {
	if a.ccoName == "" {
		return nil
	}
	for _, each := range []struct{ from, to string }{
		{"out/manifests", "manifests"}, {"out/tls", "tls"}, {"credentials-requests", "credentials-requests"},
	} {
		if each.from == "out/tls" && !a.platform.SigningKey() {
			continue
		}
		if err := copyFiles(a.ccoDir(each.from), filepath.Join(a.dir, each.to)); err != nil {
			return fmt.Errorf("add the files that ccoctl wrote: %w", err)
		}
	}
	return a.writeAddonNamespaces()
}

// copyFiles copies a folder's files over existing ones, readable only by us: the signer's key is among them.
func copyFiles(from, to string) error {
	entries, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(to, 0o750); err != nil {
		return err
	}
	for _, entry := range entries {
		raw, err := os.ReadFile(filepath.Join(from, entry.Name()))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(to, entry.Name()), raw, 0o600); err != nil {
			return err
		}
	}
	return nil
}
