package installer

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"time"
)

var (
	releaseLine = regexp.MustCompile(`^release image (\S+@sha256:[0-9a-f]{64})$`)
	imageLine   = regexp.MustCompile(`^\S+@sha256:[0-9a-f]{64}$`)
)

// Release asks openshift-install which release it installs and returns the pinned image: "registry/repository@sha256:…".
func (t *Tool) Release(ctx context.Context) (string, error) {
	image := ""
	exit, err := t.Run(ctx, Command{Args: []string{"version"}, Deadline: time.Minute, OnLine: func(line string) {
		if found := releaseLine.FindStringSubmatch(line); found != nil {
			image = found[1]
		}
	}})
	if err != nil {
		return "", err
	}
	if exit.Code != 0 || image == "" {
		return "", fmt.Errorf("openshift-install version ended with %d and named no release image by digest", exit.Code)
	}
	return image, nil
}

// Pinned reports whether an image is named by digest, so that it never changes.
func Pinned(image string) bool { return imageLine.MatchString(image) }

// Digest returns the digest of a pinned image, "sha256:…".
func Digest(image string) string {
	_, digest, _ := strings.Cut(image, "@")
	return digest
}

// Checksum returns the SHA-256 of the program itself, in lowercase hex.
func (t *Tool) Checksum() (string, error) {
	file, err := os.Open(t.Binary)
	if err != nil {
		return "", fmt.Errorf("read the installer's checksum: %w", err)
	}
	defer file.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, file); err != nil {
		return "", fmt.Errorf("read the installer's checksum: %w", err)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}
