package installer

import (
	"context"
	"fmt"
	"regexp"
	"time"
)

var releaseLine = regexp.MustCompile(`^release image \S+@(sha256:[0-9a-f]{64})$`)

// Release asks the binary which release image it installs and returns the image's digest, "sha256:…".
func (t *Tool) Release(ctx context.Context) (string, error) {
	digest := ""
	exit, err := t.Run(ctx, Command{Args: []string{"version"}, Deadline: time.Minute, OnLine: func(line string) {
		if found := releaseLine.FindStringSubmatch(line); found != nil {
			digest = found[1]
		}
	}})
	if err != nil {
		return "", err
	}
	if exit.Code != 0 || digest == "" {
		return "", fmt.Errorf("openshift-install version ended with %d and named no release image by digest", exit.Code)
	}
	return digest, nil
}
