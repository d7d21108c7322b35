package attack

import (
	"archive/tar"
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
	"time"

	"github.com/ocpctl/ocpctl/devstack/must"
	"github.com/ocpctl/ocpctl/devstack/pick"
	"github.com/ocpctl/ocpctl/internal/artifacts"
	"github.com/ocpctl/ocpctl/internal/contract"
)

// archiveAttacks put archives into the bucket that a teardown then restores: as a runner that records them itself, so that every
// checksum is correct, and as somebody who overwrites a good one.
func archiveAttacks() []attack {
	all := pick.Map(hostileArchives(), func(h hostileArchive) attack {
		return attack{name: "archive/" + h.name, who: "runner", tried: "record an archive with " + h.tried + ", fail, and have it restored", short: h.short, play: h.play}
	})
	return append(all,
		attack{name: "archive/replaced", who: "writer of the bucket", tried: "write an archive with the victim's tags over that of a ready cluster, and destroy it", play: replacedArchive},
		attack{name: "archive/replaced-manifest", who: "writer of the bucket", tried: "write a manifest of 31 MB over that of a ready cluster, and destroy it", play: replacedManifest},
	)
}

// hostileArchive is an archive that no correct runner makes. forge changes a good one; raw makes bytes that a tar writer refuses to
// write.
type hostileArchive struct {
	name, tried string
	short       bool
	forge       func(b *bundle, v prey)
	raw         func(b *bundle) ([]byte, error)
}

// escaped is where hostile members would be written if their paths were followed; the folder is the runner's own.
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

// play takes a runner over, replaces its archive with the hostile one, records it, fails, and watches the teardown.
func (h hostileArchive) play(ctx context.Context, t *target) (result, error) {
	v := must.Get(t.victimOf(ctx))
	k, id := must.Get2(t.capture(ctx, t.unique("arc"), callRecordIdentity))
	defer k.stop()
	var record contract.Record
	must.Do(json.Unmarshal(k.body, &record))
	b := must.Get(t.destroyBundle(ctx, record.Snapshots))
	if h.forge != nil {
		h.forge(&b, v)
	}
	pack := b.pack
	if h.raw != nil {
		pack = func() ([]byte, error) { return h.raw(&b) }
	}
	put := must.Get(t.putPacked(ctx, &b, pack))
	for i, s := range record.Snapshots {
		if s.Key == put.Key {
			record.Snapshots[i] = put
		}
	}
	said := must.Get(k.ask(ctx, http.MethodPost, k.path("record"), record))
	watch := t.watchRestore(ctx, id)
	err := t.failAndEnd(ctx, k, id)
	return t.restored(ctx, h.name, said, id, v, watch(), err)
}

// restored judges the result of a restore.
func (t *target) restored(ctx context.Context, name string, said answer, id string, v prey, seen restoring, err error) (result, error) {
	throughIf(seen.over != "", "%s", seen.over)
	if seen.took > mostTime {
		return through("the teardown took %s", seen.took.Round(time.Second))
	}
	must.Do(err)
	harm := must.Get(t.harm(ctx, v))
	throughIf(harm != "", "the record was answered %d, and %s: %s", said.status, v.Name, harm)
	outside, err := t.outside()
	throughIf(err != nil || len(outside) > 0, "files were written outside: %v %v", outside, err)
	now := must.Get(t.state(ctx, id))
	throughIf(now.Phase != "released", "the teardown cannot go on: %s", now)
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
			return nil // the folder of a runner that was deleted meanwhile
		case err == nil && d.Name() == escaped:
			found = append(found, path)
		}
		return err
	})
	return found, err
}

// ownArchive returns the newest archive of a ready cluster of the attacker's.
func (t *target) ownArchive(ctx context.Context, name string) (id string, b bundle, err error) {
	defer must.Catch(&err)
	id = must.Get(t.ready(ctx, attacker, name))
	rows, err := t.pool.Query(ctx, "SELECT artifact_type, s3_key, manifest_key FROM artifacts WHERE cluster_id = $1 AND artifact_type = 'INSTALL_DIR_SNAPSHOT' ORDER BY taken_at", id)
	must.Do(err)
	defer rows.Close()
	var list []contract.Snapshot
	for rows.Next() {
		var s contract.Snapshot
		must.Do(rows.Scan(&s.Type, &s.Key, &s.ManifestKey))
		list = append(list, s)
	}
	must.Do(rows.Err())
	b, err = t.destroyBundle(ctx, slices.Clone(list))
	return id, b, err
}

func replacedArchive(ctx context.Context, t *target) (result, error) {
	v := must.Get(t.victimOf(ctx))
	id, b := must.Get2(t.ownArchive(ctx, t.unique("rep")))
	forged := must.Get(victimsAll(string(b.files["metadata.json"]), v))
	b.files["metadata.json"] = []byte(forged)
	must.Get(t.put(ctx, b))
	return t.afterReplacing(ctx, "replaced", id, v)
}

func replacedManifest(ctx context.Context, t *target) (result, error) {
	v := must.Get(t.victimOf(ctx))
	id, b := must.Get2(t.ownArchive(ctx, t.unique("rep")))
	for i := range 180_000 {
		b.manifest.Files = append(b.manifest.Files, artifacts.File{Path: fmt.Sprintf("f%06d", i), Mode: "0644", SHA256: strings.Repeat("a", 64), Size: 1 << 40})
	}
	manifest := must.Get(json.Marshal(b.manifest))
	must.Do(t.putObject(ctx, b.snapshot.ManifestKey, manifest))
	return t.afterReplacing(ctx, "replaced-manifest", id, v)
}

// afterReplacing destroys the cluster whose archive was replaced.
func (t *target) afterReplacing(ctx context.Context, name, id string, v prey) (result, error) {
	watch := t.watchRestore(ctx, id)
	must.Do(t.endOf(ctx, id))
	_, err := t.becomes(ctx, id, "released", "destroy_blocked")
	return t.restored(ctx, name, answer{status: http.StatusOK}, id, v, watch(), err)
}
