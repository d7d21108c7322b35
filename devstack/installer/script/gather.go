package script

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/ocpctl/ocpctl/devstack/must"
	"github.com/ocpctl/ocpctl/devstack/pick"
)

// gatherBootstrap is `gather bootstrap`: it fetches the machines' logs and the local control plane's objects, including secrets.
// Without a bootstrap machine there is nothing to fetch.
func (r *run) gatherBootstrap(ctx context.Context, keys []string) (err error) {
	defer must.Catch(&err)
	for _, key := range keys {
		_, err = os.Stat(key)
		must.EndIf(err != nil, fail(exitGeneric, "failed to read SSH private key: %s", err))
	}
	i := must.Get(r.newInstall(ctx))
	machines := must.Get(i.build.Machines(ctx, "bootstrap"))
	must.EndIf(len(machines) == 0, fail(exitGeneric, "failed to get bootstrap and control plane host addresses: bootstrap host address is empty"))
	return i.gather()
}

// gather writes the bundle and prints its path.
func (i *install) gather() (err error) {
	defer must.Catch(&err)
	i.info("Pulling Cluster API artifacts")
	i.info("Pulling VM console logs")
	i.info("Pulling debug logs from the bootstrap machine")
	name := "log-bundle-" + time.Now().UTC().Format("20060102150405")
	bundle := must.Get(filepath.Abs(i.path(name + ".tar.gz")))
	err = i.bundle(bundle, name)
	must.EndIf(err != nil, fail(exitGeneric, "failed to gather bootstrap logs: %s", err))
	i.info("Bootstrap gather logs captured here %q", bundle)
	return nil
}

// bundle packs what the real installer packs, if it exists: cluster API manifests with the bootstrap ignition in a Secret, the
// console's and the services' logs, and the rendered assets of the bootstrap machine.
func (i *install) bundle(path, top string) (err error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o640)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	zipped := gzip.NewWriter(file)
	packed := tar.NewWriter(zipped)
	entries := map[string][]byte{
		"bootstrap/journals/bootkube.log":            []byte("bootkube.sh: waiting for etcd cluster\n"),
		"bootstrap/journals/kubelet.log":             []byte("kubelet: node \"bootstrap\" not found\n"),
		"serial/" + i.infraID + "-bootstrap.log":     []byte("Red Hat Enterprise Linux CoreOS 9.6\n"),
		"rendered-assets/openshift/auth/kubeconfig":  i.kubeconfig(),
		"rendered-assets/openshift/tls/admin-ca.key": i.ca.KeyRaw,
	}
	objects, err := filepath.Glob(i.path(".clusterapi_output", "*"))
	if err != nil {
		return err
	}
	for _, object := range objects {
		if extension := filepath.Ext(object); extension != ".yaml" && extension != ".log" {
			continue
		}
		if entries["clusterapi/"+filepath.Base(object)], err = os.ReadFile(object); err != nil {
			return err
		}
	}
	for name, content := range entries {
		header := &tar.Header{Name: top + "/" + name, Mode: 0o640, Size: int64(len(content)), ModTime: time.Now().UTC()}
		if err := packed.WriteHeader(header); err != nil {
			return err
		}
		if _, err := packed.Write(content); err != nil {
			return err
		}
	}
	return closed(packed, zipped)
}

func closed(closers ...io.Closer) error {
	errs := pick.Map(closers, func(c io.Closer) error { return c.Close() })
	return errors.Join(errs...)
}
