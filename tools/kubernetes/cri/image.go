package cri

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	criapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// Image is what stands for a container image: a directory, and what an image's configuration says.
type Image struct {
	Name       string            // as pods name it
	Rootfs     string            // an unpacked root file system; "/" shows the programs and libraries of this machine, and nothing else of it
	Programs   map[string]string // paths in the container to files or directories of this machine, which it can read and execute
	Shared     map[string]string // paths in the container to directories of this machine, which it can also write to
	User       string            // a number; empty: root
	Entrypoint []string
	Cmd        []string
	Env        []string
	Dir        string
}

// Images reads a table of images, a JSON array of Image, whenever somebody asks for one: an image that is added to it can be pulled.
type Images struct{ Table string }

func (i Images) read() ([]Image, error) {
	raw, err := os.ReadFile(i.Table)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var list []Image
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, fmt.Errorf("read the table of images %s: %w", i.Table, err)
	}
	return list, nil
}

// find returns the image with this name or id.
func (i Images) find(ref string) (Image, bool, error) {
	list, err := i.read()
	for _, image := range list {
		if ref == image.id() || withTag(ref) == withTag(image.Name) {
			return image, true, err
		}
	}
	return Image{}, false, err
}

func (i Image) id() string { return fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(i.Name))) }

// withTag is how the kubelet completes a name.
func withTag(name string) string {
	if strings.Contains(name, "@") || strings.Contains(name[strings.LastIndex(name, "/")+1:], ":") {
		return name
	}
	return name + ":latest"
}

func (i Image) status() *criapi.Image {
	image := &criapi.Image{Id: i.id(), RepoTags: []string{withTag(i.Name)}, Size: 1, Spec: &criapi.ImageSpec{Image: i.id()}}
	if uid, err := strconv.ParseInt(i.User, 10, 64); err == nil {
		image.Uid = &criapi.Int64Value{Value: uid}
	} else {
		image.Username = i.User
	}
	return image
}

// ListImages implements the image service.
func (i Images) ListImages(context.Context, *criapi.ImageFilter) ([]*criapi.Image, error) {
	list, err := i.read()
	images := make([]*criapi.Image, len(list))
	for n, image := range list {
		images[n] = image.status()
	}
	return images, err
}

// ImageStatus answers without an image when there is none.
func (i Images) ImageStatus(_ context.Context, spec *criapi.ImageSpec, _ bool) (*criapi.ImageStatusResponse, error) {
	image, found, err := i.find(spec.Image)
	if err != nil || !found {
		return &criapi.ImageStatusResponse{}, err
	}
	return &criapi.ImageStatusResponse{Image: image.status()}, nil
}

// PullImage finds the image in the table.
func (i Images) PullImage(_ context.Context, spec *criapi.ImageSpec, _ *criapi.AuthConfig, _ *criapi.PodSandboxConfig) (string, error) {
	image, found, err := i.find(spec.Image)
	if err != nil {
		return "", err
	}
	if !found {
		return "", status.Errorf(codes.NotFound, "failed to pull and unpack image %q: failed to resolve image: %s: not found", spec.Image, spec.Image)
	}
	return image.id(), nil
}

// RemoveImage removes nothing: the table belongs to whoever wrote it.
func (Images) RemoveImage(context.Context, *criapi.ImageSpec) error { return nil }

// ImageFsInfo reports no usage: images are directories that others own.
func (i Images) ImageFsInfo(context.Context) (*criapi.ImageFsInfoResponse, error) {
	usage := []*criapi.FilesystemUsage{{Timestamp: time.Now().UnixNano(), FsId: &criapi.FilesystemIdentifier{Mountpoint: "/"},
		UsedBytes: &criapi.UInt64Value{}, InodesUsed: &criapi.UInt64Value{}}}
	return &criapi.ImageFsInfoResponse{ImageFilesystems: usage, ContainerFilesystems: usage}, nil
}
