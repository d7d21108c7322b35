package runner

import (
	"archive/tar"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/ocpctl/ocpctl/runner/installer"
)

// mustGathered is the beginning of the archive name of oc adm must-gather's result.
const mustGathered = "must-gather-"

// mustGather collects the state of a cluster whose bootstrap completed but whose installation did not, within a time limit of its
// own. Errors are logged and fail nothing: the attempt has already failed. What was collected until then is kept.
func (a *attempt) mustGather(ctx context.Context) {
	kubeconfig := filepath.Join(a.dir, "auth", "kubeconfig")
	if _, err := os.Stat(kubeconfig); err != nil {
		return // without it there is no access
	}
	oc, err := a.tools.OC()
	if err != nil {
		a.noteLine("the cluster's state could not be collected: there is no oc for its release: %v", err)
		return
	}
	a.say.Step(0, "collecting the cluster's state with oc adm must-gather")
	into := filepath.Join(a.dir, "must-gather")
	defer os.RemoveAll(into)
	exit, err := oc.Run(ctx, installer.Command{
		Args:     []string{"--kubeconfig=" + kubeconfig, "adm", "must-gather", "--dest-dir=" + into, "--timeout=" + a.cfg.Timings.Gather.String()},
		Deadline: a.cfg.Timings.Gather, OnLine: a.addLine,
	})
	switch {
	case ctx.Err() != nil:
		return
	case err != nil:
		a.noteLine("the cluster's state could not be collected: %v", err)
	case exit.Code != 0:
		a.noteLine("the cluster's state could not be collected completely: oc adm must-gather ended with exit code %d", exit.Code)
	}
	archive := filepath.Join(a.dir, mustGathered+a.cfg.Now().UTC().Format("20060102150405")+".tar.gz")
	if err := packFolder(archive, into); err != nil && !errors.Is(err, os.ErrNotExist) {
		a.noteLine("what oc adm must-gather collected could not be packed: %v", err)
	}
}

// packFolder archives the regular files of a folder under its name. It skips links, because they may lead anywhere.
func packFolder(path, folder string) error {
	if _, err := os.Stat(folder); err != nil {
		return err
	}
	return writeArchive(path, func(archive *tar.Writer) error {
		return filepath.WalkDir(folder, func(at string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			name, err := filepath.Rel(filepath.Dir(folder), at)
			if err != nil {
				return err
			}
			f, err := os.Open(at)
			if err != nil {
				return err
			}
			defer f.Close()
			return addFile(archive, filepath.ToSlash(name), f)
		})
	})
}
