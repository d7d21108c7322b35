package github

import (
	"bytes"
	"sync"
)

// maxFiles bounds the memory of the cache: 128 files of at most 64 KiB.
const maxFiles = 128

// fileKey names a file. Another installation may not see what this one saw.
type fileKey struct {
	installation int64
	url          string
}

type cachedFile struct {
	etag string
	file File
}

// fileCache remembers the files read last, each with the mark by which GitHub tells that it is still so.
type fileCache struct {
	mu    sync.Mutex
	files map[fileKey]cachedFile
	order []fileKey // oldest first
}

func (c *fileCache) get(key fileKey) (cachedFile, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	known, ok := c.files[key]
	known.file.Raw = bytes.Clone(known.file.Raw) // the caller's own
	return known, ok
}

func (c *fileCache) put(key fileKey, f cachedFile) {
	if f.etag == "" {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.files == nil {
		c.files = map[fileKey]cachedFile{}
	}
	if _, ok := c.files[key]; !ok {
		if len(c.order) == maxFiles {
			delete(c.files, c.order[0])
			c.order = c.order[1:]
		}
		c.order = append(c.order, key)
	}
	f.file.Raw = bytes.Clone(f.file.Raw)
	c.files[key] = f
}
