package cluster

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/ocpctl/ocpctl/devstack/must"
)

// ignition is what the cluster reads of an ignition config of version 3.
type ignition struct {
	Ignition struct {
		Config struct {
			Merge   []source
			Replace source
		}
	}
	Storage struct {
		Files []struct {
			Path     string
			Contents source
		}
	}
}

type source struct{ Source string }

// readIgnition does what a machine does at its first start: it follows what it was started with, and returns the files that it finds.
func (c *Cluster) readIgnition(ctx context.Context, userData string) (files map[string][]byte, err error) {
	defer must.Catch(&err)
	raw := must.Get(base64.StdEncoding.DecodeString(userData))
	files = map[string][]byte{}
	for follow := []string{string(raw)}; len(follow) > 0; follow = follow[1:] {
		var config ignition
		must.Wrap(json.Unmarshal([]byte(follow[0]), &config), "read the ignition config")
		for _, other := range append(config.Ignition.Config.Merge, config.Ignition.Config.Replace) {
			if other.Source != "" {
				follow = append(follow, string(must.Get(c.fetch(ctx, other.Source))))
			}
		}
		for _, f := range config.Storage.Files {
			if strings.HasPrefix(f.Contents.Source, "data:") {
				files[f.Path] = must.Get(decodeData(f.Contents.Source))
			}
		}
	}
	return files, nil
}

func (c *Cluster) fetch(ctx context.Context, from string) (_ []byte, err error) {
	defer must.Catch(&err)
	resp := must.Get(c.Client.Do(must.Get(http.NewRequestWithContext(ctx, http.MethodGet, from, nil))))
	defer resp.Body.Close()
	raw := must.Get(io.ReadAll(resp.Body))
	must.FailIf(resp.StatusCode != http.StatusOK, "the bootstrap machine got %s for its ignition", resp.Status)
	return raw, nil
}

// decodeData returns what a data URL contains.
func decodeData(from string) ([]byte, error) {
	head, body, found := strings.Cut(from, ",")
	switch {
	case !found:
		return nil, fmt.Errorf("a data URL without data: %.40s", from)
	case strings.HasSuffix(head, ";base64"):
		return base64.StdEncoding.DecodeString(body)
	}
	text, err := url.PathUnescape(body)
	return []byte(text), err
}
