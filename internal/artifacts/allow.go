package artifacts

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// RecordDir is the folder of the install directory in which the runner keeps its own record of the attempt: the frozen install-config
// and what was recorded, without secrets.
const RecordDir = "ocpctl"

// RecordFile is the name of the attempt's record in RecordDir.
const RecordFile = "record.json"

// isAllowed reports whether a file of the install directory belongs into a bundle. It is an allow-list: the directory is full of
// secrets, and a list of exceptions would miss new ones.
//
// Destroy: metadata.json is all that destroy reads; our record and the credentials requests (which ccoctl's teardown needs) contain
// no secret. Operate: what access to the cluster, gather and wait-for need.
func isAllowed(t Type, name string) bool {
	top, _, _ := strings.Cut(name, "/")
	if t == Destroy {
		return name == "metadata.json" || top == RecordDir || top == "credentials-requests"
	}
	switch top {
	case "auth", ".openshift_install_state.json":
		return true
	case ".clusterapi_output":
		folder, file := path.Split(name)
		return folder == ".clusterapi_output/" && strings.HasSuffix(file, ".yaml") && !strings.HasPrefix(file, "Secret-")
	}
	return false
}

// fileRequiredOf returns the file without which a bundle is useless.
func fileRequiredOf(t Type) string {
	if t == Destroy {
		return "metadata.json"
	}
	return "auth/kubeconfig"
}

// chooseFiles lists what of dir belongs into a bundle, sorted, with slashes: the files, and the folders that contain them.
func chooseFiles(t Type, dir string) (files, folders []string, err error) {
	err = filepath.WalkDir(dir, func(full string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, full)
		if err != nil || rel == "." {
			return err
		}
		name := filepath.ToSlash(rel)
		switch {
		case entry.IsDir():
			return nil
		case !isAllowed(t, name):
			return nil
		case !entry.Type().IsRegular():
			return fmt.Errorf("%s is not a regular file", name) // a link could lead to a secret outside the list
		}
		files = append(files, name)
		for up := path.Dir(name); up != "."; up = path.Dir(up) {
			folders = append(folders, up)
		}
		return nil
	})
	if err != nil {
		return nil, nil, fmt.Errorf("list %s: %w", dir, err)
	}
	if !slices.Contains(files, fileRequiredOf(t)) {
		return nil, nil, errors.New(fileRequiredOf(t) + " is missing")
	}
	slices.Sort(files)
	slices.Sort(folders)
	return files, slices.Compact(folders), nil
}
