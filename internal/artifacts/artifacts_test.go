package artifacts_test

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/s3/s3test"
	"github.com/ocpctl/ocpctl/internal/artifacts"
)

// installDir writes what the installer leaves in its directory, secrets included.
func installDir(t testing.TB) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "install")
	for name, mode := range map[string]os.FileMode{
		"metadata.json":                             0o640,
		"ocpctl/install-config.yaml":                0o600,
		"credentials-requests/ingress.yaml":         0o640,
		"auth/kubeconfig":                           0o640,
		"auth/kubeadmin-password":                   0o600,
		".openshift_install_state.json":             0o640,
		".openshift_install.log":                    0o644,
		".clusterapi_output/Machine-ns-master.yaml": 0o640,
		".clusterapi_output/Secret-ns-master.yaml":  0o640,
		".clusterapi_output/etcd/member/snap.yaml":  0o640,
		"terraform.tfvars.json":                     0o640,
		"bootstrap.ign":                             0o640,
		"openshift/99_cloud-creds-secret.yaml":      0o640,
		"tls/journal-gatewayd.key":                  0o640,
	} {
		full := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(full), 0o750))
		require.NoError(t, os.WriteFile(full, []byte("content of "+name), mode))
		require.NoError(t, os.Chmod(full, mode))
	}
	return dir
}

func destroyBundle(dir string) artifacts.Bundle {
	return artifacts.Bundle{Type: artifacts.Destroy, Cluster: "clu_1", Attempt: 3, InfraID: "shop-abcde", Dir: dir}
}

func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	require.NoError(t, filepath.Walk(dir, func(full string, info os.FileInfo, err error) error {
		rel, _ := filepath.Rel(dir, full)
		if err == nil && !info.IsDir() {
			found[filepath.ToSlash(rel)] = info.Mode().Perm().String()
		}
		return err
	}))
	return found
}

func TestADestroyBundleHoldsWhatATeardownNeedsAndNoSecret(t *testing.T) {
	s, _, _ := newStore(t)
	saved, err := s.Save(t.Context(), destroyBundle(installDir(t)))
	require.NoError(t, err)
	require.Regexp(t, `^clusters/clu_1/create/\d{8}T\d{6}\.\d{3}Z-a3/install-dir\.tar\.zst$`, saved.Key)
	require.Equal(t, filepath.Dir(saved.Key)+"/manifest.json", saved.ManifestKey)

	into := filepath.Join(t.TempDir(), "restored")
	used, skipped, err := s.Restore(t.Context(), []artifacts.Snapshot{saved}, into)
	require.NoError(t, err)
	require.Empty(t, skipped)
	require.Equal(t, saved, used)
	require.Equal(t, map[string]string{
		"metadata.json": "-rw-r-----", "ocpctl/install-config.yaml": "-rw-------", "credentials-requests/ingress.yaml": "-rw-r-----",
	}, tree(t, into))
	got, err := os.ReadFile(filepath.Join(into, "metadata.json"))
	require.NoError(t, err)
	require.Equal(t, "content of metadata.json", string(got))
}

func TestTheManifestNamesEveryFileWithModeSizeAndChecksum(t *testing.T) {
	s, _, bucket := newStore(t)
	saved, err := s.Save(t.Context(), destroyBundle(installDir(t)))
	require.NoError(t, err)
	raw, err := s.Read(t.Context(), "s3://"+bucket+"/"+saved.ManifestKey)
	require.NoError(t, err)
	var m artifacts.Manifest
	require.NoError(t, json.Unmarshal(raw, &m))
	require.Equal(t, saved.SHA256, m.SHA256)
	sum := sha256.Sum256([]byte("content of metadata.json"))
	require.Contains(t, m.Files, artifacts.File{Path: "metadata.json", Mode: "0640", Size: 24, SHA256: hex.EncodeToString(sum[:])})
	require.Len(t, m.Files, 3)
}

func TestAnOperateBundleLiesUnderItsOwnPrefixAndLeavesCloudSecretsBehind(t *testing.T) {
	s, client, bucket := newStore(t)
	b := destroyBundle(installDir(t))
	b.Type = artifacts.Operate
	saved, err := s.Save(t.Context(), b)
	require.NoError(t, err)
	require.Regexp(t, `^operate/clusters/clu_1/\d{8}T\d{6}\.\d{3}Z-a3/auth-bundle\.tar\.zst$`, saved.Key)
	require.Equal(t, []string{
		".clusterapi_output/", "auth/", ".clusterapi_output/Machine-ns-master.yaml", ".openshift_install_state.json",
		"auth/kubeadmin-password", "auth/kubeconfig",
	}, entries(t, client, bucket, saved.Key))

	_, _, err = s.Restore(t.Context(), []artifacts.Snapshot{saved}, filepath.Join(t.TempDir(), "r"))
	require.ErrorIs(t, err, artifacts.ErrNoneGood, "a teardown never unpacks secrets")
}

func entries(t *testing.T, client *s3.Client, bucket, key string) []string {
	t.Helper()
	out, err := client.GetObject(t.Context(), &s3.GetObjectInput{Bucket: &bucket, Key: &key})
	require.NoError(t, err)
	defer out.Body.Close()
	decoder, err := zstd.NewReader(out.Body)
	require.NoError(t, err)
	defer decoder.Close()
	var names []string
	for archive := tar.NewReader(decoder); ; {
		header, err := archive.Next()
		if err == io.EOF {
			return names
		}
		require.NoError(t, err)
		names = append(names, header.Name)
	}
}

func TestTwoSavesInTheSameMillisecondAreTwoArchives(t *testing.T) {
	at := time.Date(2026, 2, 27, 12, 0, 0, 0, time.UTC)
	s, _, _ := newStore(t, func(c *artifacts.Config) { c.Now = func() time.Time { return at } })
	dir := installDir(t)
	first, err := s.Save(t.Context(), destroyBundle(dir))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "metadata.json"), []byte("changed"), 0o640))
	second, err := s.Save(t.Context(), destroyBundle(dir))
	require.NoError(t, err)
	require.NotEqual(t, first.Key, second.Key)

	_, _, err = s.Restore(t.Context(), []artifacts.Snapshot{first}, filepath.Join(t.TempDir(), "r"))
	require.NoError(t, err, "the first was not overwritten")
}

func TestWithoutMetadataThereIsNoDestroyBundle(t *testing.T) {
	s, _, _ := newStore(t)
	dir := installDir(t)
	require.NoError(t, os.Remove(filepath.Join(dir, "metadata.json")))
	_, err := s.Save(t.Context(), destroyBundle(dir))
	require.ErrorContains(t, err, "metadata.json is missing")
}

func TestALinkIsNotFollowedIntoABundle(t *testing.T) {
	s, _, _ := newStore(t)
	dir := installDir(t)
	require.NoError(t, os.Symlink("/etc/passwd", filepath.Join(dir, "ocpctl", "passwd")))
	_, err := s.Save(t.Context(), destroyBundle(dir))
	require.ErrorContains(t, err, "not a regular file")
}

func TestTheNewestGoodSnapshotIsRestored(t *testing.T) {
	s, client, bucket := newStore(t)
	dir := installDir(t)
	save := func(content string) artifacts.Snapshot {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "metadata.json"), []byte(content), 0o640))
		one, err := s.Save(t.Context(), destroyBundle(dir))
		require.NoError(t, err)
		return one
	}
	oldest, gone, bent, forged, cut := save("oldest"), save("gone"), save("bent"), save("forged"), save("cut")
	_, err := client.DeleteObject(t.Context(), &s3.DeleteObjectInput{Bucket: &bucket, Key: &gone.Key})
	require.NoError(t, err)
	raw := read(t, client, bucket, bent.Key)
	raw[len(raw)/2] ^= 0x40
	write(t, client, bucket, bent.Key, raw)
	write(t, client, bucket, cut.Key, read(t, client, bucket, cut.Key)[:40])
	forged.SHA256 = strings.Repeat("0", 64)

	into := filepath.Join(t.TempDir(), "restored")
	used, skipped, err := s.Restore(t.Context(), []artifacts.Snapshot{forged, oldest, bent, gone, cut}, into)
	require.NoError(t, err)
	require.Equal(t, oldest, used)
	require.Len(t, skipped, 4)
	for i, want := range []struct {
		key string
		err error
	}{{cut.Key, artifacts.ErrCorrupt}, {forged.Key, artifacts.ErrCorrupt}, {bent.Key, artifacts.ErrCorrupt}, {gone.Key, artifacts.ErrMissing}} {
		require.Equal(t, want.key, skipped[i].Snapshot.Key)
		require.ErrorIs(t, skipped[i].Err, want.err)
		require.False(t, skipped[i].Unanswered())
	}
	got, err := os.ReadFile(filepath.Join(into, "metadata.json"))
	require.NoError(t, err)
	require.Equal(t, "oldest", string(got))
}

func read(t *testing.T, client *s3.Client, bucket, key string) []byte {
	t.Helper()
	out, err := client.GetObject(t.Context(), &s3.GetObjectInput{Bucket: &bucket, Key: &key})
	require.NoError(t, err)
	defer out.Body.Close()
	raw, err := io.ReadAll(out.Body)
	require.NoError(t, err)
	return raw
}

func write(t *testing.T, client *s3.Client, bucket, key string, raw []byte) {
	t.Helper()
	_, err := client.PutObject(t.Context(), &s3.PutObjectInput{Bucket: &bucket, Key: &key, Body: bytes.NewReader(raw)})
	require.NoError(t, err)
}

// plant puts a hostile archive into the bucket, with a manifest that agrees with it.
func plant(t *testing.T, client *s3.Client, bucket string, headers []tar.Header, files []artifacts.File) artifacts.Snapshot {
	t.Helper()
	var packed bytes.Buffer
	encoder, err := zstd.NewWriter(&packed)
	require.NoError(t, err)
	archive := tar.NewWriter(encoder)
	for _, header := range headers {
		require.NoError(t, archive.WriteHeader(&header))
		if header.Size > 0 {
			_, err = archive.Write(bytes.Repeat([]byte("x"), int(header.Size)))
			require.NoError(t, err)
		}
	}
	require.NoError(t, archive.Close())
	require.NoError(t, encoder.Close())
	sum := sha256.Sum256(packed.Bytes())
	m := artifacts.Manifest{
		Type: artifacts.Destroy, InfraID: "shop-abcde", Archive: "evil.tar.zst", SHA256: hex.EncodeToString(sum[:]), Size: int64(packed.Len()), Files: files,
	}
	raw, err := json.Marshal(m)
	require.NoError(t, err)
	write(t, client, bucket, "evil.tar.zst", packed.Bytes())
	write(t, client, bucket, "evil.json", raw)
	return artifacts.Snapshot{Type: artifacts.Destroy, Key: "evil.tar.zst", ManifestKey: "evil.json", SHA256: m.SHA256, Size: m.Size, InfraID: m.InfraID}
}

func TestAnArchiveThatReachesOutsideIsRefused(t *testing.T) {
	one := func(name string) artifacts.File {
		sum := sha256.Sum256([]byte("x"))
		return artifacts.File{Path: name, Mode: "0640", Size: 1, SHA256: hex.EncodeToString(sum[:])}
	}
	for name, c := range map[string]struct {
		headers []tar.Header
		files   []artifacts.File
	}{
		"a path upwards":            {[]tar.Header{{Typeflag: tar.TypeReg, Name: "../evil", Size: 1}}, []artifacts.File{one("../evil")}},
		"an absolute path":          {[]tar.Header{{Typeflag: tar.TypeReg, Name: "/evil", Size: 1}}, []artifacts.File{one("/evil")}},
		"a path not named":          {[]tar.Header{{Typeflag: tar.TypeReg, Name: "../evil", Size: 1}}, []artifacts.File{one("metadata.json")}},
		"a link outside":            {[]tar.Header{{Typeflag: tar.TypeSymlink, Name: "a", Linkname: "/etc"}, {Typeflag: tar.TypeReg, Name: "a/evil", Size: 1}}, []artifacts.File{one("a/evil")}},
		"a hard link":               {[]tar.Header{{Typeflag: tar.TypeLink, Name: "a", Linkname: "/etc/passwd"}}, []artifacts.File{one("a")}},
		"a device":                  {[]tar.Header{{Typeflag: tar.TypeChar, Name: "a"}}, []artifacts.File{one("a")}},
		"a folder of nobody":        {[]tar.Header{{Typeflag: tar.TypeDir, Name: "../evil/"}, {Typeflag: tar.TypeReg, Name: "a", Size: 1}}, []artifacts.File{one("a")}},
		"a file twice":              {[]tar.Header{{Typeflag: tar.TypeReg, Name: "a", Size: 1}, {Typeflag: tar.TypeReg, Name: "a", Size: 1}}, []artifacts.File{one("a")}},
		"a larger file than stated": {[]tar.Header{{Typeflag: tar.TypeReg, Name: "a", Size: 2}}, []artifacts.File{one("a")}},
		"a folder twice":            {[]tar.Header{{Typeflag: tar.TypeDir, Name: "f/"}, {Typeflag: tar.TypeDir, Name: "f/"}, {Typeflag: tar.TypeReg, Name: "f/a", Size: 1}}, []artifacts.File{one("f/a")}},
		"a file missing":            {nil, []artifacts.File{one("a")}},
	} {
		t.Run(name, func(t *testing.T) {
			s, client, bucket := newStore(t)
			above := t.TempDir()
			into := filepath.Join(above, "inner", "restored")
			require.NoError(t, os.Mkdir(filepath.Dir(into), 0o750))
			_, skipped, err := s.Restore(t.Context(), []artifacts.Snapshot{plant(t, client, bucket, c.headers, c.files)}, into)
			require.ErrorIs(t, err, artifacts.ErrNoneGood)
			require.Len(t, skipped, 1)
			require.Empty(t, tree(t, above), "nothing was written, inside or outside")
		})
	}
}

// What fits its manifest and its checksums can still be more than a teardown's disk or memory holds.
func TestAnArchiveThatIsTooMuchIsRefusedUnread(t *testing.T) {
	empty := sha256.Sum256(nil)
	file := func(name string, size int64) artifacts.File {
		return artifacts.File{Path: name, Mode: "0640", Size: size, SHA256: hex.EncodeToString(empty[:])}
	}
	var many []artifacts.File
	for i := range 10_001 {
		many = append(many, file(fmt.Sprintf("f%d", i), 0))
	}
	for name, c := range map[string]struct {
		files []artifacts.File
		text  string
	}{
		"a file of 10 GB":         {[]artifacts.File{file("zeros", 10<<30)}, `"zeros" has 10737418240 bytes`},
		"files of 10 GB together": {slices.Repeat([]artifacts.File{file("part", 256<<20)}, 40), "together"},
		"a size below zero":       {[]artifacts.File{file("a", -1)}, "-1 bytes"},
		"10,001 files":            {many, "10001 files"},
		"a path of a kilobyte":    {[]artifacts.File{file(strings.Repeat("a", 1024), 0)}, "1024 bytes"},
		"a manifest of 5 MB":      {[]artifacts.File{{Path: "a", Mode: strings.Repeat("0", 5<<20)}}, "more than 4194304 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			s, client, bucket := newStore(t)
			_, skipped, err := s.Restore(t.Context(), []artifacts.Snapshot{plant(t, client, bucket, nil, c.files)}, filepath.Join(t.TempDir(), "restored"))
			require.ErrorIs(t, err, artifacts.ErrNoneGood)
			require.ErrorContains(t, skipped[0].Err, c.text)
			require.False(t, skipped[0].Unanswered(), "asking again changes nothing")
		})
	}
}

// A frame of a few bytes may ask for half a gigabyte of memory before anything of it is checked.
func TestAFrameThatAsksForMuchMemoryIsRefused(t *testing.T) {
	s, client, bucket := newStore(t)
	one := plant(t, client, bucket, nil, nil)
	raw := append([]byte{0x28, 0xb5, 0x2f, 0xfd, 0x00, 19 << 3}, 0x01, 0x20, 0x00) // RFC 8878: a window of 2^29, one raw block of 1024 bytes
	raw = append(raw, make([]byte, 1024)...)
	sum := sha256.Sum256(raw)
	one.SHA256, one.Size = hex.EncodeToString(sum[:]), int64(len(raw))
	write(t, client, bucket, one.Key, raw)
	manifest, err := json.Marshal(artifacts.Manifest{Type: artifacts.Destroy, InfraID: one.InfraID, Archive: one.Key, SHA256: one.SHA256, Size: one.Size})
	require.NoError(t, err)
	write(t, client, bucket, one.ManifestKey, manifest)
	_, skipped, err := s.Restore(t.Context(), []artifacts.Snapshot{one}, filepath.Join(t.TempDir(), "restored"))
	require.ErrorIs(t, err, artifacts.ErrNoneGood)
	require.ErrorContains(t, skipped[0].Err, "window")
}

func TestWhatIsTooMuchIsNotPackedEither(t *testing.T) {
	s, _, _ := newStore(t)
	dir := installDir(t)
	for i := range 10_001 {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "credentials-requests", fmt.Sprintf("%d.yaml", i)), nil, 0o640))
	}
	_, err := s.Save(t.Context(), destroyBundle(dir))
	require.ErrorContains(t, err, "at most 10000")
}

func TestAFolderThatExistsIsNotRestoredInto(t *testing.T) {
	s, _, _ := newStore(t)
	saved, err := s.Save(t.Context(), destroyBundle(installDir(t)))
	require.NoError(t, err)
	_, _, err = s.Restore(t.Context(), []artifacts.Snapshot{saved}, t.TempDir())
	require.ErrorContains(t, err, "already exists")
}

func TestAnS3ThatDoesNotAnswerIsNotAMissingSnapshot(t *testing.T) {
	s3test.Setenv(t)
	t.Setenv("AWS_ENDPOINT_URL_S3", "http://127.0.0.1:1")
	t.Setenv("AWS_MAX_ATTEMPTS", "1")
	s, err := artifacts.New(t.Context(), artifacts.Config{Bucket: "b"})
	require.NoError(t, err)
	_, skipped, err := s.Restore(t.Context(), []artifacts.Snapshot{{Type: artifacts.Destroy, Key: "k", ManifestKey: "m"}}, filepath.Join(t.TempDir(), "r"))
	require.ErrorIs(t, err, artifacts.ErrNoneGood)
	require.True(t, skipped[0].Unanswered())
}

func TestOnlyReferencesToTheBucketAreRead(t *testing.T) {
	s, _, bucket := newStore(t)
	ref, err := s.PutOnce(t.Context(), "clusters/c/outputs/metadata.json", []byte("{}"))
	require.NoError(t, err)
	require.Equal(t, "s3://"+bucket+"/clusters/c/outputs/metadata.json", ref)
	got, err := s.Read(t.Context(), ref)
	require.NoError(t, err)
	require.Equal(t, "{}", string(got))
	_, err = s.Read(t.Context(), "s3://"+bucket+"/no/such")
	require.ErrorIs(t, err, artifacts.ErrMissing)
	for _, bad := range []string{"s3://other/key", "file:///etc/passwd", "s3://" + bucket, ""} {
		_, err = s.Read(t.Context(), bad)
		require.ErrorContains(t, err, "artifact reference")
	}
}

func TestWritingOnceTwiceIsWritingOnce(t *testing.T) {
	s, _, _ := newStore(t)
	_, err := s.PutOnce(t.Context(), artifacts.SpoolKey("att_1", 7, "result"), []byte("a"))
	require.NoError(t, err)
	_, err = s.PutOnce(t.Context(), "spool/att_1/000007-result.json", []byte("a"))
	require.NoError(t, err, "the first answer may have been lost")
	_, err = s.PutOnce(t.Context(), "spool/att_1/000007-result.json", []byte("b"))
	require.ErrorIs(t, err, artifacts.ErrExists)
}

func TestTheSpoolIsReadInTheOrderItWasWritten(t *testing.T) {
	s, _, _ := newStore(t)
	docs, err := s.Spooled(t.Context(), "att_1")
	require.NoError(t, err)
	require.Empty(t, docs)
	for _, one := range []struct {
		seq  int
		kind string
	}{{10, "result"}, {2, "report"}, {9, "report"}} {
		_, err := s.PutOnce(t.Context(), artifacts.SpoolKey("att_1", one.seq, one.kind), fmt.Appendf(nil, `{"seq":%d}`, one.seq))
		require.NoError(t, err)
	}
	_, err = s.PutOnce(t.Context(), artifacts.SpoolKey("att_10", 1, "report"), []byte("another attempt's"))
	require.NoError(t, err)
	docs, err = s.Spooled(t.Context(), "att_1")
	require.NoError(t, err)
	require.Equal(t, []artifacts.Document{
		{Kind: "report", Body: []byte(`{"seq":2}`)}, {Kind: "report", Body: []byte(`{"seq":9}`)}, {Kind: "result", Body: []byte(`{"seq":10}`)},
	}, docs)
}

// The end of an attempt waits for its spool, so nothing that lies there may keep it from being read.
func TestADocumentThatIsTooLargeHidesNoOther(t *testing.T) {
	s, client, bucket := newStore(t)
	write(t, client, bucket, artifacts.SpoolKey("att_1", 1, "report"), bytes.Repeat([]byte(" "), 33<<20))
	write(t, client, bucket, artifacts.SpoolKey("att_1", 2, "report"), []byte(`{"seq":2}`))
	write(t, client, bucket, artifacts.SpoolKey("att_1", 3, "result"), []byte(`{"seq":3}`))
	docs, err := s.Spooled(t.Context(), "att_1")
	require.NoError(t, err)
	require.Equal(t, []artifacts.Document{{Kind: "report"}, {Kind: "report", Body: []byte(`{"seq":2}`)}, {Kind: "result", Body: []byte(`{"seq":3}`)}}, docs)
}

func TestOfASpoolWithoutEndTheFirstThousandAreRead(t *testing.T) {
	s, client, bucket := newStore(t)
	for i := range 1001 {
		write(t, client, bucket, artifacts.SpoolKey("att_1", i, "report"), []byte("{}"))
	}
	docs, err := s.Spooled(t.Context(), "att_1")
	require.NoError(t, err)
	require.Len(t, docs, 1000)
}
