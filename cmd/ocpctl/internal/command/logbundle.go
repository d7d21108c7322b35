package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/connect"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/exit"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/humanize"
)

// bundling says which log bundle to download, and where to.
type bundling struct {
	on      bool
	file    string
	attempt int
}

func (b *bundling) addFlags(c *cobra.Command) {
	c.Flags().BoolVar(&b.on, "bundle", false, optionUsage("logs", "bundle"))
	c.Flags().Var((*file)(&b.file), "file", optionUsage("logs", "file"))
	c.Flags().IntVar(&b.attempt, "attempt", 0, optionUsage("logs", "attempt"))
	for _, other := range []string{"follow", "job", "lines"} {
		c.MarkFlagsMutuallyExclusive("bundle", other)
	}
}

// checkFlags says which flags cannot be combined.
func (b *bundling) checkFlags(c *cobra.Command) error {
	for _, name := range []string{"file", "attempt"} {
		if c.Flags().Changed(name) && !b.on {
			return exit.Misused("--%s needs --bundle", name)
		}
	}
	if c.Flags().Changed("attempt") && b.attempt < 1 {
		return exit.Misused("--attempt must be 1 or higher")
	}
	return nil
}

// downloadBundle writes the log bundle to a file that appears only when it is complete and that only its owner can read.
func (a *app) downloadBundle(ctx context.Context, api *connect.API, id string, b bundling) error {
	res, err := api.GetLogBundle(ctx, id, &v1.GetLogBundleParams{Attempt: b.attempt})
	body, err := connect.Stream(res, err)
	if err != nil {
		return err
	}
	defer body.Close()
	path := b.file
	if path == "" {
		if path, err = nameGiven(res.Header); err != nil {
			return err
		}
		if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
			return exit.Misused("%s already exists. Give --file FILE: another file, or the same one to replace it", path)
		}
	}
	a.printNotef("Downloading to %s ...", humanize.Line(path))
	size, err := saveWhole(path, body)
	if err != nil {
		return fmt.Errorf("download the log bundle: %w; nothing was written to %s, so run the command again", err, path)
	}
	a.printNotef("Wrote %s (%d bytes). It contains secrets of the cluster. To unpack it: tar xzf %s", humanize.Line(path), size, humanize.Line(path))
	return nil
}

// nameGiven returns the file name from the server, reduced to a file in the current folder.
func nameGiven(h http.Header) (string, error) {
	_, params, err := mime.ParseMediaType(h.Get("Content-Disposition"))
	name := params["filename"]
	if err != nil || name == "" || name != filepath.Base(name) || strings.HasPrefix(name, ".") || strings.ContainsAny(name, `/\`) || humanize.Line(name) != name {
		return "", exit.Misused("the server gave no usable file name. Give one with --file FILE")
	}
	return name, nil
}

// saveWhole writes a file of any size, which appears only when it is complete.
func saveWhole(path string, from io.Reader) (int64, error) {
	draft, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*") // it is created with mode 0600
	if err != nil {
		return 0, err
	}
	defer os.Remove(draft.Name()) // already renamed if all went well
	size, err := io.Copy(draft, from)
	if err = errors.Join(err, draft.Sync(), draft.Close()); err != nil {
		return 0, err
	}
	return size, os.Rename(draft.Name(), path)
}
