package artifacts_test

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/internal/artifacts"
)

const benchSize = 50 << 20

// benchDir fills an install directory with 50 MB that compress about as YAML, JSON and certificates do.
func benchDir(b *testing.B) string {
	b.Helper()
	dir := filepath.Join(b.TempDir(), "install")
	require.NoError(b, os.MkdirAll(filepath.Join(dir, "auth"), 0o750))
	require.NoError(b, os.MkdirAll(filepath.Join(dir, ".clusterapi_output"), 0o750))
	require.NoError(b, os.WriteFile(filepath.Join(dir, "auth", "kubeconfig"), []byte("kubeconfig"), 0o640))
	random := rand.New(rand.NewPCG(1, 2))
	write := func(name string, size int) {
		raw := make([]byte, 0, size)
		for len(raw) < size {
			noise := make([]byte, 48)
			for i := range noise {
				noise[i] = byte(random.Uint32())
			}
			raw = fmt.Appendf(raw, "  - name: machine-%d\n    namespace: openshift-cluster-api-guests\n    certificate: %s\n",
				random.IntN(1000), base64.StdEncoding.EncodeToString(noise))
		}
		require.NoError(b, os.WriteFile(filepath.Join(dir, name), raw[:size], 0o640))
	}
	write(".openshift_install_state.json", 20<<20)
	for i := range 60 {
		write(fmt.Sprintf(".clusterapi_output/Machine-ns-%d.yaml", i), (benchSize-20<<20)/60)
	}
	return dir
}

func benchBundle(dir string) artifacts.Bundle {
	return artifacts.Bundle{Type: artifacts.Operate, Cluster: "clu_1", Attempt: 1, InfraID: "shop-abcde", Dir: dir}
}

// BenchmarkSave packs, checksums and uploads 50 MB, reads it back and compares every checksum.
func BenchmarkSave(b *testing.B) {
	s, _, _ := newStore(b)
	dir := benchDir(b)
	b.SetBytes(benchSize)
	for b.Loop() {
		_, err := s.Save(b.Context(), benchBundle(dir))
		require.NoError(b, err)
	}
}

// BenchmarkPackAndUpload is the part of Save that tar and zstd do too; reading back is our own addition.
func BenchmarkPackAndUpload(b *testing.B) {
	s, _, _ := newStore(b)
	dir := benchDir(b)
	b.SetBytes(benchSize)
	for i := 0; b.Loop(); i++ {
		require.NoError(b, artifacts.PackAndPut(b.Context(), s, artifacts.Operate, dir, fmt.Sprintf("bench/%d", i)))
	}
}

// BenchmarkPlainTarZstdUpload is what people do by hand: tar | zstd into a file, sha256, upload with the same client.
func BenchmarkPlainTarZstdUpload(b *testing.B) {
	_, client, bucket := newStore(b)
	dir, out := benchDir(b), filepath.Join(b.TempDir(), "plain.tar.zst")
	b.SetBytes(benchSize)
	for i := 0; b.Loop(); i++ {
		shell(b, fmt.Sprintf("tar -C %s -cf - . | zstd -q -f -o %s", dir, out))
		putFile(b, client, bucket, fmt.Sprintf("plain/%d", i), out)
	}
}

// BenchmarkRestore fetches and unpacks 50 MB, comparing every checksum.
func BenchmarkRestore(b *testing.B) {
	s, _, _ := newStore(b)
	saved, err := s.Save(b.Context(), benchBundle(benchDir(b)))
	require.NoError(b, err)
	saved.Type = artifacts.Destroy // Restore unpacks nothing else; the bytes are the same
	above := b.TempDir()
	b.SetBytes(benchSize)
	for i := 0; b.Loop(); i++ {
		into := filepath.Join(above, fmt.Sprint(i))
		_, _, err := s.Restore(b.Context(), []artifacts.Snapshot{saved}, into)
		require.NoError(b, err)
		b.StopTimer()
		require.NoError(b, os.RemoveAll(into))
		b.StartTimer()
	}
}

// BenchmarkPlainRestore is the same by hand: download with the same client, sha256, zstd -d | tar -x.
func BenchmarkPlainRestore(b *testing.B) {
	s, client, bucket := newStore(b)
	saved, err := s.Save(b.Context(), benchBundle(benchDir(b)))
	require.NoError(b, err)
	above := b.TempDir()
	down := filepath.Join(above, "down.tar.zst")
	b.SetBytes(benchSize)
	for i := 0; b.Loop(); i++ {
		into := filepath.Join(above, fmt.Sprint(i))
		require.NoError(b, os.Mkdir(into, 0o750))
		getFile(b, client, bucket, saved.Key, down)
		shell(b, fmt.Sprintf("zstd -q -d -c %s | tar -C %s -xpf -", down, into))
		b.StopTimer()
		require.NoError(b, os.RemoveAll(into))
		b.StartTimer()
	}
}

func shell(b *testing.B, line string) {
	b.Helper()
	out, err := exec.CommandContext(context.Background(), "sh", "-c", line).CombinedOutput()
	require.NoError(b, err, string(out))
}

func putFile(b *testing.B, client *s3.Client, bucket, key, name string) {
	b.Helper()
	file, err := os.Open(name)
	require.NoError(b, err)
	defer file.Close()
	sum := sha256.New()
	_, err = io.Copy(sum, file)
	require.NoError(b, err)
	_, err = file.Seek(0, io.SeekStart)
	require.NoError(b, err)
	_, err = client.PutObject(b.Context(), &s3.PutObjectInput{
		Bucket: &bucket, Key: &key, Body: file, ChecksumAlgorithm: types.ChecksumAlgorithmSha256,
		ChecksumSHA256: aws.String(base64.StdEncoding.EncodeToString(sum.Sum(nil))),
	})
	require.NoError(b, err)
}

func getFile(b *testing.B, client *s3.Client, bucket, key, name string) {
	b.Helper()
	out, err := client.GetObject(b.Context(), &s3.GetObjectInput{Bucket: &bucket, Key: &key})
	require.NoError(b, err)
	defer out.Body.Close()
	file, err := os.Create(name)
	require.NoError(b, err)
	defer file.Close()
	_, err = io.Copy(io.MultiWriter(file, sha256.New()), out.Body)
	require.NoError(b, err)
}
