package github

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/ocpctl/ocpctl/devstack/file"
	"github.com/ocpctl/ocpctl/devstack/must"
)

// disk stores the world in one JSON file and every webhook's body in a file beside it. An empty path stores nothing.
type disk struct{ path string }

// load reads the world; nil when there is none yet.
func (d disk) load() (_ *world, err error) {
	defer must.Catch(&err)
	if d.path == "" {
		return nil, nil
	}
	raw, err := os.ReadFile(d.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	must.Wrap(err, "read the stand-in GitHub's state")
	w := &world{}
	must.Wrap(json.Unmarshal(raw, w), "read the stand-in GitHub's state %s", d.path)
	must.FailIf(w.Layout != layout, "the stand-in GitHub's state %s was kept by another version: make clean forgets it", d.path)
	for _, one := range w.Deliveries {
		// A missing body only makes the delivery unsendable.
		one.Payload, _ = os.ReadFile(d.body(one.ID))
	}
	return w, nil
}

// save replaces the file atomically, so that a kill leaves the old world or the new one.
func (d disk) save(w *world) error {
	if d.path == "" {
		return nil
	}
	raw, err := json.MarshalIndent(w, "", " ")
	if err != nil {
		return fmt.Errorf("keep the stand-in GitHub's state: %w", err)
	}
	return file.Replace(d.path, raw)
}

func (d disk) body(id int64) string {
	return filepath.Join(d.path+".deliveries", itoa(id)+".json")
}

// keepBody writes a webhook's body, which never changes.
func (d disk) keepBody(one *Delivery) error {
	if d.path == "" {
		return nil
	}
	return file.Replace(d.body(one.ID), one.Payload)
}

// dropBody deletes the body of a delivery that left the log.
func (d disk) dropBody(one *Delivery) {
	if d.path != "" {
		_ = os.Remove(d.body(one.ID))
	}
}
