package artifacts

import "fmt"

// The limits of an archive. Real ones have dozens of files and a few megabytes; but anybody with write access to the bucket decides
// what is in it, and unpacking must fill neither the disk nor the memory of a teardown.
const (
	mostFiles    = 10_000
	mostPath     = 512       // bytes of one file's path
	mostUnpacked = 512 << 20 // bytes of all files together, and of the archive
	mostManifest = 4 << 20   // bytes
	mostWindow   = 64 << 20  // bytes of memory that a compressed frame may require; ours require 8 MiB
)

// checkLimits says which limit an archive exceeds.
func checkLimits(files []File, size int64) error {
	if len(files) > mostFiles {
		return fmt.Errorf("it has %d files, and an archive has at most %d", len(files), mostFiles)
	}
	if size < 0 || size > mostUnpacked {
		return fmt.Errorf("it has %d bytes, and an archive has at most %d", size, mostUnpacked)
	}
	var sum int64
	for _, f := range files {
		if len(f.Path) > mostPath {
			return fmt.Errorf("the path %.40q… has %d bytes, and a path has at most %d", f.Path, len(f.Path), mostPath)
		}
		if f.Size < 0 || f.Size > mostUnpacked {
			return fmt.Errorf("%q has %d bytes, and all files together have at most %d", f.Path, f.Size, mostUnpacked)
		}
		sum += f.Size
	}
	if sum > mostUnpacked {
		return fmt.Errorf("the files have %d bytes together, and at most %d are packed", sum, mostUnpacked)
	}
	return nil
}
