package attack

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/ocpctl/ocpctl/runner/contract"
	"github.com/ocpctl/ocpctl/store/artifacts"
)

// archiveAttacks put archives into the bucket that a teardown then restores: as a runner that records them itself, so that
// every checksum fits, and as somebody who writes over a good one.
func archiveAttacks() []attack {
	var all []attack
	for _, h := range hostileArchives() {
		all = append(all, attack{name: "archive/" + h.name, who: "runner", tried: "record an archive with " + h.tried + ", fail, and have it restored", short: h.short, play: h.play})
	}
	return append(all,
		attack{name: "archive/replaced", who: "writer of the bucket", tried: "write an archive with the victim's tags over that of a ready cluster, and destroy it", play: replacedArchive},
		attack{name: "archive/replaced-manifest", who: "writer of the bucket", tried: "write a manifest of 31 MB over that of a ready cluster, and destroy it", play: replacedManifest},
	)
}

// hostileArchive is one that no runner of ours makes. forge changes a good one; raw makes its bytes where a tar writer will not.
type hostileArchive struct {
	name, tried string
	short       bool
	forge       func(b *bundle, v prey)
	raw         func(b *bundle) ([]byte, error)
}

// escapes are where hostile members would be written if their paths were followed; the folder is the runner's own.
const escaped = "escaped-by-an-archive"

func hostileArchives() []hostileArchive {
	link := func(kind byte, name, to string) func(*bundle, prey) {
		return func(b *bundle, _ prey) {
			b.more = []member{{Header: tar.Header{Typeflag: kind, Name: name, Linkname: to, Mode: 0o777}}}
		}
	}
	named := func(name string) func(*bundle, prey) {
		return func(b *bundle, _ prey) { b.add(name, []byte("hello\n"), true) }
	}
	return []hostileArchive{
		{name: "symlink", tried: "a link to /etc/passwd in the place of a file", forge: func(b *bundle, _ prey) {
			delete(b.files, "metadata.json")
			b.more = []member{{Header: tar.Header{Typeflag: tar.TypeSymlink, Name: "metadata.json", Linkname: "/etc/passwd", Mode: 0o777}}}
		}},
		{name: "symlink-folder", tried: "a link to a folder outside, and a file through it", forge: func(b *bundle, _ prey) {
			b.more = []member{
				{Header: tar.Header{Typeflag: tar.TypeSymlink, Name: "out", Linkname: "../..", Mode: 0o777}},
				{Header: tar.Header{Typeflag: tar.TypeReg, Name: "out/" + escaped, Mode: 0o644, Size: 6}, body: strings.NewReader("hello\n")},
			}
			b.list("out/"+escaped, []byte("hello\n"))
		}},
		{name: "hard-link", tried: "a hard link to a file outside", forge: link(tar.TypeLink, "linked", "../../token")},
		{name: "dots", tried: "a file at ../../", short: true, forge: named("../../" + escaped)},
		{name: "absolute", tried: "a file at an absolute path", forge: named(filepath.Join(os.TempDir(), escaped))},
		{name: "device", tried: "a device, a pipe and a socket", forge: func(b *bundle, _ prey) {
			for _, kind := range []byte{tar.TypeChar, tar.TypeBlock, tar.TypeFifo} {
				b.more = append(b.more, member{Header: tar.Header{Typeflag: kind, Name: fmt.Sprintf("dev%d", kind), Devmajor: 1, Devminor: 5, Mode: 0o666}})
			}
		}},
		{name: "twice", tried: "metadata.json twice, the second with the victim's tags", forge: func(b *bundle, v prey) {
			forged, err := victimsAll(string(b.files["metadata.json"]), v)
			if err != nil {
				forged = v.Metadata
			}
			b.more = []member{{Header: tar.Header{Typeflag: tar.TypeReg, Name: "metadata.json", Mode: 0o640, Size: int64(len(forged))}, body: strings.NewReader(forged)}}
		}},
		{name: "listed-twice", tried: "a manifest that names metadata.json twice", forge: func(b *bundle, _ prey) {
			b.list("metadata.json", b.files["metadata.json"])
		}},
		{name: "unlisted", tried: "a file that its manifest does not name", forge: func(b *bundle, _ prey) { b.add("more.sh", []byte("#!/bin/sh\n"), false) }},
		{name: "setuid", tried: "a file that runs as its owner and may be written by all", forge: func(b *bundle, _ prey) {
			b.list("run", []byte("hello\n"))
			b.manifest.Files[len(b.manifest.Files)-1].Mode = "6777"
			b.files["run"] = []byte("hello\n")
		}},
		{name: "many-files", tried: "200,000 files and as many folders", forge: manyFiles},
		{name: "zeros", tried: "a file of 10 GB of zeros", short: true, raw: zeros},
		{name: "window", tried: "a frame that asks for half a gigabyte of memory", raw: hugeWindow},
	}
}

// add puts a file into the archive, and into its manifest where it is listed.
func (b *bundle) add(name string, body []byte, listed bool) {
	b.more = append(b.more, member{Header: tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o644, Size: int64(len(body))}, body: bytes.NewReader(body)})
	if listed {
		b.list(name, body)
	}
}

// list names a file in the manifest.
func (b *bundle) list(name string, body []byte) {
	b.manifest.Files = append(b.manifest.Files, artifacts.File{Path: name, Mode: "0644", Size: int64(len(body)), SHA256: sumOf(body)})
}

func manyFiles(b *bundle, _ prey) {
	empty := sumOf(nil)
	for i := range 200_000 {
		folder := fmt.Sprintf("f%d", i)
		b.manifest.Files = append(b.manifest.Files, artifacts.File{Path: folder + "/x", Mode: "0644", SHA256: empty})
		b.more = append(b.more,
			member{Header: tar.Header{Typeflag: tar.TypeDir, Name: folder + "/", Mode: 0o755}},
			member{Header: tar.Header{Typeflag: tar.TypeReg, Name: folder + "/x", Mode: 0o644}},
		)
	}
}

// tenGB is what the file of zeros would have on disk.
const tenGB = 10 << 30

// zeros packs the good files and then zeros, frame by frame: each is a few kilobytes and becomes 128 MiB.
func zeros(b *bundle) ([]byte, error) {
	good, err := b.pack()
	if err != nil {
		return nil, err
	}
	inner, err := unpacked(good)
	if err != nil {
		return nil, err
	}
	var header bytes.Buffer
	if err := tar.NewWriter(&header).WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: "zeros", Mode: 0o644, Size: tenGB}); err != nil {
		return nil, err
	}
	encoder, err := zstd.NewWriter(nil)
	if err != nil {
		return nil, err
	}
	defer encoder.Close()
	const frame = 128 << 20
	inner = inner[:len(inner)-1024] // without the two empty blocks at the end
	raw := encoder.EncodeAll(append(inner, header.Bytes()...), nil)
	raw = append(raw, bytes.Repeat(encoder.EncodeAll(make([]byte, frame), nil), tenGB/frame)...)
	b.manifest.Files = append(b.manifest.Files, artifacts.File{Path: "zeros", Mode: "0644", Size: tenGB, SHA256: strings.Repeat("0", 64)})
	return encoder.EncodeAll(make([]byte, 1024), raw), nil
}

// unpacked decompresses an archive of ours; what becomes larger than any of them is refused.
func unpacked(raw []byte) ([]byte, error) {
	decoder, err := zstd.NewReader(nil, zstd.WithDecoderMaxMemory(32<<20))
	if err != nil {
		return nil, err
	}
	defer decoder.Close()
	return decoder.DecodeAll(raw, nil)
}

// hugeWindow packs the good files in a frame whose window is 512 MiB.
func hugeWindow(b *bundle) ([]byte, error) {
	good, err := b.pack()
	if err != nil {
		return nil, err
	}
	inner, err := unpacked(good)
	if err != nil {
		return nil, err
	}
	// RFC 8878, 3.1.1: magic number, a descriptor without content size, the window's exponent (2^(10+19)), one raw block.
	frame := []byte{0x28, 0xb5, 0x2f, 0xfd, 0x00, 19 << 3}
	block := uint32(len(inner))<<3 | 1
	return append(append(frame, byte(block), byte(block>>8), byte(block>>16)), inner...), nil
}

// play takes a runner over, puts the hostile archive in the place of its own, records it, fails, and watches the teardown.
func (h hostileArchive) play(ctx context.Context, t *target) (result, error) {
	v, err := t.victimOf(ctx)
	if err != nil {
		return result{}, err
	}
	k, id, err := t.capture(ctx, t.unique("arc"), callRecordIdentity)
	if err != nil {
		return result{}, err
	}
	defer k.stop()
	var record contract.Record
	if err := json.Unmarshal(k.body, &record); err != nil {
		return result{}, err
	}
	b, err := t.destroyBundle(ctx, record.Snapshots)
	if err != nil {
		return result{}, err
	}
	if h.forge != nil {
		h.forge(&b, v)
	}
	pack := b.pack
	if h.raw != nil {
		pack = func() ([]byte, error) { return h.raw(&b) }
	}
	put, err := t.putPacked(ctx, &b, pack)
	if err != nil {
		return result{}, err
	}
	for i, s := range record.Snapshots {
		if s.Key == put.Key {
			record.Snapshots[i] = put
		}
	}
	said, err := k.ask(ctx, http.MethodPost, k.path("record"), record)
	if err != nil {
		return result{}, err
	}
	watch := t.watchRestore(ctx, id)
	err = t.failAndEnd(ctx, k, id)
	return t.restored(ctx, h.name, said, id, v, watch(), err)
}

// restored judges what came of a restore.
func (t *target) restored(ctx context.Context, name string, said answer, id string, v prey, seen restoring, err error) (result, error) {
	if seen.over != "" {
		return through("%s", seen.over)
	}
	if seen.took > mostTime {
		return through("the teardown took %s", seen.took.Round(time.Second))
	}
	if err != nil {
		return result{}, err
	}
	harm, err := t.harm(ctx, v)
	if err != nil {
		return result{}, err
	}
	if harm != "" {
		return through("the record was answered %d, and %s: %s", said.status, v.Name, harm)
	}
	outside, err := t.outside()
	if err != nil || len(outside) > 0 {
		return through("files were written outside: %v %v", outside, err)
	}
	now, err := t.state(ctx, id)
	if err != nil {
		return result{}, err
	}
	if now.Phase != "released" {
		return through("the teardown cannot go on: %s", now)
	}
	return held("the record was answered %d, nothing was written outside, at most %d MiB and %d MiB of memory were used, %s", said.status, seen.disk>>20, seen.memory, "and the cluster was released")
}

// outside lists what hostile archives wrote outside their folder.
func (t *target) outside() (found []string, err error) {
	for _, folder := range []string{os.TempDir(), t.Dir, filepath.Dir(t.Dir)} {
		if _, err := os.Lstat(filepath.Join(folder, escaped)); err == nil {
			found = append(found, filepath.Join(folder, escaped))
		}
	}
	err = filepath.WalkDir(filepath.Join(t.Dir, "work"), func(path string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil // a runner's folder that was removed meanwhile
		case err == nil && d.Name() == escaped:
			found = append(found, path)
		}
		return err
	})
	return found, err
}

// restoring is what was seen of a runner while it restored.
type restoring struct {
	disk   int64
	memory int
	took   time.Duration
	over   string // why it was stopped; empty: it was not
}

// What one restore may take at most: an archive of ours has a few hundred kilobytes.
const (
	mostDisk   = 600 << 20
	mostMemory = 500
	mostTime   = 25 * time.Second
)

// watchRestore measures the runners of a cluster until it is asked for what it saw, and ends one that takes too much.
func (t *target) watchRestore(ctx context.Context, id string) (seen func() restoring) {
	ctx, stop := context.WithCancel(ctx)
	done := make(chan restoring)
	began := time.Now()
	go func() {
		var r restoring
		for ctx.Err() == nil {
			t.measure(ctx, id, &r)
			time.Sleep(glance)
		}
		r.took = time.Since(began)
		done <- r
	}()
	return func() restoring { stop(); return <-done }
}

func (t *target) measure(ctx context.Context, id string, r *restoring) {
	rows, err := t.pool.Query(ctx, "SELECT id FROM attempts WHERE cluster_id = $1 AND kind = 'destroy' AND closed_at IS NULL", id)
	if err != nil {
		return
	}
	defer rows.Close()
	for rows.Next() {
		var attempt string
		if rows.Scan(&attempt) != nil {
			return
		}
		folder := filepath.Join(t.Dir, "work", attempt)
		var disk int64
		_ = filepath.WalkDir(folder, func(_ string, d fs.DirEntry, err error) error { // files come and go
			if err == nil && d.Type().IsRegular() {
				if info, err := d.Info(); err == nil {
					disk += info.Size()
				}
			}
			return nil
		})
		pid, memory := t.runnerMemory(folder)
		r.disk, r.memory = max(r.disk, disk), max(r.memory, memory)
		if (disk > mostDisk || memory > mostMemory) && pid > 0 && r.over == "" {
			r.over = fmt.Sprintf("the runner wrote %d MiB and took %d MiB of memory to restore it, and was stopped", disk>>20, memory)
			_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended by itself
		}
	}
}

// runnerMemory is a living runner's process and the most memory it used, in MiB.
func (t *target) runnerMemory(folder string) (pid, memory int) {
	raw, err := os.ReadFile(filepath.Join(folder, "process.json"))
	if err != nil {
		return 0, 0
	}
	var process struct{ PID int }
	if json.Unmarshal(raw, &process) != nil {
		return 0, 0
	}
	memory, err = memoryOf(process.PID)
	if err != nil {
		return 0, 0
	}
	return process.PID, memory
}

// ownArchive is the newest archive of a ready cluster of the attacker's.
func (t *target) ownArchive(ctx context.Context, name string) (id string, b bundle, err error) {
	if id, err = t.ready(ctx, attacker, name); err != nil {
		return "", b, err
	}
	rows, err := t.pool.Query(ctx, "SELECT artifact_type, s3_key, manifest_key FROM artifacts WHERE cluster_id = $1 AND artifact_type = 'INSTALL_DIR_SNAPSHOT' ORDER BY taken_at", id)
	if err != nil {
		return "", b, err
	}
	defer rows.Close()
	var list []contract.Snapshot
	for rows.Next() {
		var s contract.Snapshot
		if err := rows.Scan(&s.Type, &s.Key, &s.ManifestKey); err != nil {
			return "", b, err
		}
		list = append(list, s)
	}
	if err := rows.Err(); err != nil {
		return "", b, err
	}
	b, err = t.destroyBundle(ctx, slices.Clone(list))
	return id, b, err
}

func replacedArchive(ctx context.Context, t *target) (result, error) {
	v, err := t.victimOf(ctx)
	if err != nil {
		return result{}, err
	}
	id, b, err := t.ownArchive(ctx, t.unique("rep"))
	if err != nil {
		return result{}, err
	}
	forged, err := victimsAll(string(b.files["metadata.json"]), v)
	if err != nil {
		return result{}, err
	}
	b.files["metadata.json"] = []byte(forged)
	if _, err := t.put(ctx, b); err != nil {
		return result{}, err
	}
	return t.afterReplacing(ctx, "replaced", id, v)
}

func replacedManifest(ctx context.Context, t *target) (result, error) {
	v, err := t.victimOf(ctx)
	if err != nil {
		return result{}, err
	}
	id, b, err := t.ownArchive(ctx, t.unique("rep"))
	if err != nil {
		return result{}, err
	}
	for i := range 180_000 {
		b.manifest.Files = append(b.manifest.Files, artifacts.File{Path: fmt.Sprintf("f%06d", i), Mode: "0644", SHA256: strings.Repeat("a", 64), Size: 1 << 40})
	}
	manifest, err := json.Marshal(b.manifest)
	if err != nil {
		return result{}, err
	}
	if err := t.putObject(ctx, b.snapshot.ManifestKey, manifest); err != nil {
		return result{}, err
	}
	return t.afterReplacing(ctx, "replaced-manifest", id, v)
}

// afterReplacing destroys the cluster whose archive was replaced.
func (t *target) afterReplacing(ctx context.Context, name, id string, v prey) (result, error) {
	watch := t.watchRestore(ctx, id)
	if err := t.endOf(ctx, id); err != nil {
		return result{}, err
	}
	_, err := t.becomes(ctx, id, "released", "destroy_blocked")
	return t.restored(ctx, name, answer{status: http.StatusOK}, id, v, watch(), err)
}
