package artifacts

import "context"

// PackAndPut is Save without reading back, to be measured beside tar and zstd.
func PackAndPut(ctx context.Context, s *Store, t Type, dir, key string) error {
	p, err := s.packArchive(t, dir)
	if err != nil {
		return err
	}
	defer p.discardFile()
	return s.putObject(ctx, key, p.file, p.size, p.sum)
}
