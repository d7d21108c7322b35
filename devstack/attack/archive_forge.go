package attack

import (
	"archive/tar"
	"bytes"
	"fmt"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/ocpctl/ocpctl/devstack/must"
	"github.com/ocpctl/ocpctl/internal/artifacts"
)

// add adds a file to the archive and, if listed, to its manifest.
func (b *bundle) add(name string, body []byte, listed bool) {
	b.more = append(b.more, member{Header: tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o644, Size: int64(len(body))}, body: bytes.NewReader(body)})
	if listed {
		b.list(name, body)
	}
}

// list adds a file to the manifest.
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

// tenGB is the size that the file of zeros would have on disk.
const tenGB = 10 << 30

// zeros packs the good files and then zeros, in frames of a few kilobytes that each decompress to 128 MiB.
func zeros(b *bundle) (_ []byte, err error) {
	defer must.Catch(&err)
	good := must.Get(b.pack())
	inner := must.Get(unpacked(good))
	var header bytes.Buffer
	must.Do(tar.NewWriter(&header).WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: "zeros", Mode: 0o644, Size: tenGB}))
	encoder := must.Get(zstd.NewWriter(nil))
	defer encoder.Close()
	const frame = 128 << 20
	inner = inner[:len(inner)-1024] // without the two empty blocks at the end
	raw := encoder.EncodeAll(append(inner, header.Bytes()...), nil)
	raw = append(raw, bytes.Repeat(encoder.EncodeAll(make([]byte, frame), nil), tenGB/frame)...)
	b.manifest.Files = append(b.manifest.Files, artifacts.File{Path: "zeros", Mode: "0644", Size: tenGB, SHA256: strings.Repeat("0", 64)})
	return encoder.EncodeAll(make([]byte, 1024), raw), nil
}

// unpacked decompresses one of our archives; it refuses anything larger than they can be.
func unpacked(raw []byte) ([]byte, error) {
	decoder, err := zstd.NewReader(nil, zstd.WithDecoderMaxMemory(32<<20))
	if err != nil {
		return nil, err
	}
	defer decoder.Close()
	return decoder.DecodeAll(raw, nil)
}

// hugeWindow packs the good files in a frame whose window is 512 MiB.
func hugeWindow(b *bundle) (_ []byte, err error) {
	defer must.Catch(&err)
	good := must.Get(b.pack())
	inner := must.Get(unpacked(good))
	// RFC 8878, 3.1.1: magic number, a descriptor without content size, the window's exponent (2^(10+19)), one raw block.
	frame := []byte{0x28, 0xb5, 0x2f, 0xfd, 0x00, 19 << 3}
	block := uint32(len(inner))<<3 | 1
	return append(append(frame, byte(block), byte(block>>8), byte(block>>16)), inner...), nil
}
