package script

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/ocpctl/ocpctl/devstack/installer/resources"
	"github.com/ocpctl/ocpctl/devstack/installer/resources/ibmcloud"
	"github.com/ocpctl/ocpctl/devstack/must"
)

// assets is the state that the commands pass on through the state file, which is full of secrets.
type assets struct {
	config      installConfig
	configYAML  []byte
	infraID     string
	clusterUUID string
	password    string
	ca          certificate // signs the admin's client certificate
	admin       certificate
	keyID       string // the caller's AWS keys, which Mint stores in the cluster; not in the state file
	keySecret   string
	credentials []stateFile       // the manifests with the operators' Secrets, among others
	workers     []stateFile       // the workers' machine sets
	signer      []byte            // the key that signs the operators' tokens, from tls/
	ignitions   map[string][]byte // from the directory, by machine

	found *ibmcloud.Metadata // what was looked up for metadata.json, at the first time
}

// The keys of the state file are the real installer's asset types.
const (
	keyConfig    = "*installconfig.InstallConfig"
	keyClusterID = "*installconfig.ClusterID"
	keyPassword  = "*password.KubeadminPassword"
	keyCA        = "*tls.AdminKubeConfigSignerCertKey"
	keyAdmin     = "*tls.AdminKubeConfigClientCertKey"
	keyManifests = "*manifests.Manifests"
	keyWorkers   = "*machines.Worker"
	keySigner    = "*tls.BoundSASigningKey"
	keyMetadata  = "*cluster.Metadata"
)

type stateConfig struct {
	Config installConfig `json:"config"`
	File   stateFile     `json:"file"`
}

type stateFile struct {
	Filename string
	Data     []byte
}

// stateFiles is an asset of several files.
type stateFiles struct{ FileList []stateFile }

// stateMetadata is the asset metadata.json.
type stateMetadata struct{ File stateFile }

type stateClusterID struct{ UUID, InfraID string }

type statePassword struct {
	Password string
	File     stateFile
}

func (r *run) path(parts ...string) string {
	return filepath.Join(append([]string{r.dir}, parts...)...)
}

func (r *run) exists(parts ...string) bool {
	_, err := os.Stat(r.path(parts...))
	return err == nil
}

// write stores a file with the real installer's modes: folders 0750, files 0640.
func (r *run) write(data []byte, parts ...string) error {
	path := r.path(parts...)
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o640)
}

// load consumes install-config.yaml, or continues with an earlier command's state file.
func (r *run) load() (*assets, error) {
	raw, err := os.ReadFile(r.path("install-config.yaml"))
	switch {
	case err == nil:
		return r.fresh(raw)
	case !errors.Is(err, fs.ErrNotExist):
		return nil, fail(exitGeneric, "failed to fetch Install Config: %s", err)
	}
	a, err := r.restore()
	if errors.Is(err, fs.ErrNotExist) {
		// The real installer starts its wizard here, and reads the end of the input.
		fmt.Fprintln(r.out, "? SSH Public Key  [Use arrows to move, type to filter, ? for more help]")
		return nil, fail(exitGeneric, `failed to fetch Install Config: failed to generate asset "Install Config": failed to create install config: EOF`)
	}
	return a, err
}

// fresh begins from an install-config: a new infraID, new keys, a new password.
func (r *run) fresh(raw []byte) (_ *assets, err error) {
	defer must.Catch(&err)
	const frame = `failed to fetch Master Machines: failed to load asset "Install Config": failed to create install config: `
	config, unknown, err := parseConfig(raw)
	must.EndIf(err != nil, fail(exitConfig, frame+"%s", err))
	if unknown != nil {
		r.warn("failed to parse first occurrence of unknown field: %s", unknown)
		r.info("Attempting to unmarshal while ignoring unknown keys because strict unmarshaling failed")
	}
	if wrong := config.validate(); len(wrong) == 1 {
		return nil, fail(exitConfig, frame+`invalid "install-config.yaml" file: %s`, wrong[0])
	} else if len(wrong) > 1 {
		return nil, fail(exitConfig, frame+`invalid "install-config.yaml" file: [%s]`, strings.Join(wrong, ", "))
	}
	a := &assets{
		config: config, configYAML: raw, infraID: infraID(config.Metadata.Name), clusterUUID: newUUID(),
		password: strings.Join([]string{resources.RandomSuffix(), resources.RandomSuffix(), resources.RandomSuffix(), resources.RandomSuffix()}, "-"),
	}
	if len(config.Metadata.Name) > 21 {
		r.warn("Length of cluster name %q is greater than 21 and will be cut for the infrastructure's names", config.Metadata.Name)
	}
	a.ca = must.Get(newCA("admin-kubeconfig-signer"))
	a.admin = must.Get(a.ca.client("system:admin", "system:masters"))
	must.Do(r.save(a))
	r.info("Consuming Install Config from target directory")
	return a, os.Remove(r.path("install-config.yaml"))
}

func (r *run) save(a *assets) (err error) {
	defer must.Catch(&err)
	state := map[string]any{
		keyConfig:    stateConfig{a.config, stateFile{"install-config.yaml", a.configYAML}},
		keyClusterID: stateClusterID{a.clusterUUID, a.infraID},
		keyPassword:  statePassword{a.password, stateFile{"auth/kubeadmin-password", []byte(a.password)}},
		keyCA:        a.ca, keyAdmin: a.admin, keyManifests: stateFiles{a.credentials}, keyWorkers: stateFiles{a.workers}, keySigner: stateFiles{[]stateFile{{"tls/" + signingKey, a.signer}}},
	}
	if a.found != nil {
		described := must.Get(a.metadata())
		state[keyMetadata] = stateMetadata{stateFile{"metadata.json", described}}
	}
	raw := must.Get(json.MarshalIndent(state, "", "    "))
	return r.write(raw, ".openshift_install_state.json")
}

func (r *run) restore() (_ *assets, err error) {
	defer must.Catch(&err)
	raw := must.Get(os.ReadFile(r.path(".openshift_install_state.json")))
	var state map[string]json.RawMessage
	err = json.Unmarshal(raw, &state)
	must.EndIf(err != nil, fail(exitGeneric, "failed to load state file: %s", err))
	var config stateConfig
	var id stateClusterID
	var password statePassword
	var a assets
	var manifests, workers, signer stateFiles
	var described stateMetadata
	for key, into := range map[string]any{keyConfig: &config, keyClusterID: &id, keyPassword: &password, keyCA: &a.ca, keyAdmin: &a.admin, keyManifests: &manifests, keyWorkers: &workers, keySigner: &signer, keyMetadata: &described} {
		if state[key] == nil {
			continue
		}
		err = json.Unmarshal(state[key], into)
		must.EndIf(err != nil, fail(exitGeneric, "failed to load state file: %s: %s", key, err))
	}
	a.credentials, a.workers = manifests.FileList, workers.FileList
	for _, file := range signer.FileList {
		a.signer = file.Data
	}
	if raw := described.File.Data; raw != nil {
		var found metadata
		err = json.Unmarshal(raw, &found)
		must.EndIf(err != nil, fail(exitGeneric, "failed to load state file: %s: %s", keyMetadata, err))
		a.found = found.IBM
	}
	a.config, a.configYAML = config.Config, config.File.Data
	a.infraID, a.clusterUUID, a.password = id.InfraID, id.UUID, password.Password
	return &a, nil
}

var (
	notInID = regexp.MustCompile(`[^A-Za-z0-9-]`)
	dashes  = regexp.MustCompile(`-{2,}`)
)

// infraID returns the name cut to 21 characters and five random ones, as in the real installer.
func infraID(name string) string {
	name = dashes.ReplaceAllString(notInID.ReplaceAllString(name, "-"), "-")
	if len(name) > 21 {
		name = name[:21]
	}
	return strings.TrimRight(name, "-") + "-" + resources.RandomSuffix()
}

func newUUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	h := hex.EncodeToString(b[:])
	return strings.Join([]string{h[:8], h[8:12], h[12:16], h[16:20], h[20:]}, "-")
}

// metadata is metadata.json (pkg/types/clustermetadata.go in the real installer).
type metadata struct {
	ClusterName      string             `json:"clusterName"`
	ClusterID        string             `json:"clusterID"`
	InfraID          string             `json:"infraID"`
	AWS              *awsMetadata       `json:"aws,omitempty"`
	IBM              *ibmcloud.Metadata `json:"ibmcloud,omitempty"`
	FeatureSet       string             `json:"featureSet"`
	CustomFeatureSet any                `json:"customFeatureSet"`
}

func (a *assets) metadata() ([]byte, error) {
	m := metadata{ClusterName: a.config.Metadata.Name, ClusterID: a.clusterUUID, InfraID: a.infraID}
	a.config.on().describe(a, &m)
	return json.Marshal(m)
}
