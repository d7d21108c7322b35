package attack

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/klauspost/compress/zstd"

	"github.com/ocpctl/ocpctl/devstack"
	"github.com/ocpctl/ocpctl/devstack/must"
	"github.com/ocpctl/ocpctl/internal/artifacts"
	"github.com/ocpctl/ocpctl/internal/contract"
)

// bundle is an archive of an install directory that is changed before it replaces the true one.
type bundle struct {
	snapshot contract.Snapshot
	manifest artifacts.Manifest
	files    map[string][]byte
	more     []member // after the files; in no manifest unless listed explicitly
}

// member is a tar entry of a kind that real archives do not have.
type member struct {
	tar.Header
	body io.Reader // nil: none
}

// destroyBundle reads the newest archive that a teardown would use.
func (t *target) destroyBundle(ctx context.Context, list []contract.Snapshot) (b bundle, err error) {
	defer must.Catch(&err)
	for _, s := range list {
		if s.Type == string(artifacts.Destroy) {
			b.snapshot = s
		}
	}
	manifest := must.Get(t.object(ctx, b.snapshot.ManifestKey))
	must.Do(json.Unmarshal(manifest, &b.manifest))
	raw := must.Get(t.object(ctx, b.snapshot.Key))
	decoder := must.Get(zstd.NewReader(bytes.NewReader(raw)))
	defer decoder.Close()
	b.files = map[string][]byte{}
	for archive := tar.NewReader(decoder); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return b, nil
		}
		must.Do(err)
		if header.Typeflag != tar.TypeReg {
			continue
		}
		b.files[header.Name] = must.Get(io.ReadAll(archive))
	}
}

// put packs the bundle, overwrites archive and manifest, and returns the snapshot for a record.
func (t *target) put(ctx context.Context, b bundle) (contract.Snapshot, error) {
	return t.putPacked(ctx, &b, b.pack)
}

// putPacked is put with another way of packing.
func (t *target) putPacked(ctx context.Context, b *bundle, pack func() ([]byte, error)) (contract.Snapshot, error) {
	raw, err := pack()
	if err != nil {
		return b.snapshot, err
	}
	b.snapshot.SHA256, b.snapshot.Size = sumOf(raw), int64(len(raw))
	b.manifest.SHA256, b.manifest.Size = b.snapshot.SHA256, b.snapshot.Size
	manifest, err := json.Marshal(b.manifest)
	if err != nil {
		return b.snapshot, err
	}
	return b.snapshot, errors.Join(t.putObject(ctx, b.snapshot.Key, raw), t.putObject(ctx, b.snapshot.ManifestKey, manifest))
}

// pack writes the files in the manifest's order, with correct sizes and checksums, and then the additional members.
func (b *bundle) pack() ([]byte, error) {
	var out bytes.Buffer
	compressed, err := zstd.NewWriter(&out)
	if err != nil {
		return nil, err
	}
	archive := tar.NewWriter(compressed)
	for i, f := range b.manifest.Files {
		body, ours := b.files[f.Path]
		if !ours {
			continue
		}
		b.manifest.Files[i].Size, b.manifest.Files[i].SHA256 = int64(len(body)), sumOf(body)
		err = errors.Join(err, archive.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: f.Path, Mode: 0o640, Size: int64(len(body))}))
		_, wrote := archive.Write(body)
		err = errors.Join(err, wrote)
	}
	for _, m := range b.more {
		err = errors.Join(err, archive.WriteHeader(&m.Header))
		if m.body != nil && err == nil {
			_, err = io.Copy(archive, m.body)
		}
	}
	err = errors.Join(err, archive.Close(), compressed.Close())
	return out.Bytes(), err
}

func sumOf(body []byte) string {
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:])
}

// object reads an object of the artifact bucket.
func (t *target) object(ctx context.Context, key string) ([]byte, error) {
	bucket := devstack.Bucket
	got, err := t.S3.Client().GetObject(ctx, &s3.GetObjectInput{Bucket: &bucket, Key: &key})
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", key, err)
	}
	defer got.Body.Close()
	return io.ReadAll(got.Body)
}

// putObject overwrites an object of the artifact bucket, as anybody with write access could.
func (t *target) putObject(ctx context.Context, key string, body []byte) error {
	bucket := devstack.Bucket
	_, err := t.S3.Client().PutObject(ctx, &s3.PutObjectInput{Bucket: &bucket, Key: &key, Body: bytes.NewReader(body)})
	if err != nil {
		return fmt.Errorf("write %s: %w", key, err)
	}
	return nil
}

// removeObject deletes an object of the artifact bucket.
func (t *target) removeObject(ctx context.Context, key string) error {
	bucket := devstack.Bucket
	_, err := t.S3.Client().DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &bucket, Key: &key})
	return err
}
