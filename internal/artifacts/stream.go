package artifacts

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
)

// slowReader is how many times slower than S3 a person's connection may be.
const slowReader = 16

// Stream passes the content of a snapshot to use, without reading it into memory. It does not call use if the object cannot be read;
// ErrMissing says that it does not exist. ErrCorrupt means that use has read something else than was stored.
func (s *Store) Stream(ctx context.Context, one Snapshot, use func(io.Reader) error) error {
	sum := sha256.New()
	return s.getObject(ctx, one.Key, one.Size*slowReader, func(body io.Reader) error {
		all := io.TeeReader(io.LimitReader(body, one.Size+1), sum)
		if err := use(all); err != nil {
			return err
		}
		if _, err := io.Copy(io.Discard, all); err != nil {
			return err
		}
		if got := hex.EncodeToString(sum.Sum(nil)); got != one.SHA256 {
			return fmt.Errorf("%w: its checksum is %s and was %s", ErrCorrupt, got, one.SHA256)
		}
		return nil
	})
}
