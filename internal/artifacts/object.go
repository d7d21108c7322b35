package artifacts

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go"
)

// readLimit limits what is read into memory: documents and manifests, never archives.
const readLimit = 32 << 20

// largestPut is S3's limit for one request.
const largestPut = 5 << 30

// PutOnce writes a small object that must not exist yet; ErrExists if one with other content does. Writing the same content again
// succeeds, so a call whose response was lost may be repeated.
func (s *Store) PutOnce(ctx context.Context, key string, data []byte) (ref string, err error) {
	sum := sha256.Sum256(data)
	err = s.putObject(ctx, key, bytes.NewReader(data), int64(len(data)), sum[:])
	if errors.Is(err, ErrExists) {
		there, readErr := s.Read(ctx, s.refOf(key))
		if readErr == nil && bytes.Equal(there, data) {
			return s.refOf(key), nil
		}
		err = errors.Join(err, readErr)
	}
	if err != nil {
		return "", err
	}
	return s.refOf(key), nil
}

// Keep writes a file of any size, once, without reading it into memory. The returned Snapshot was verified in S3. As with PutOnce, a
// second try succeeds if the first one's object exists.
func (s *Store) Keep(ctx context.Context, t Type, key, path string) (Snapshot, error) {
	taken := s.cfg.Now().UTC()
	file, err := os.Open(path)
	if err != nil {
		return Snapshot{}, fmt.Errorf("store %s: %w", filepath.Base(path), err)
	}
	defer file.Close()
	sum := sha256.New()
	size, err := io.Copy(sum, file)
	if err == nil && size > largestPut {
		err = fmt.Errorf("%d bytes are more than S3 takes at once (%d)", size, int64(largestPut))
	}
	if err == nil {
		_, err = file.Seek(0, io.SeekStart)
	}
	if err != nil {
		return Snapshot{}, fmt.Errorf("store %s: %w", filepath.Base(path), err)
	}
	if err = s.putObject(ctx, key, file, size, sum.Sum(nil)); errors.Is(err, ErrExists) {
		err = s.checkHolds(ctx, key, size, sum.Sum(nil), err)
	}
	return Snapshot{Type: t, Key: key, SHA256: hex.EncodeToString(sum.Sum(nil)), Size: size, TakenAt: taken}, err
}

// checkHolds returns nil if the object at key has this checksum, otherwise the error because of which it was called.
func (s *Store) checkHolds(ctx context.Context, key string, size int64, sum []byte, because error) error {
	there := sha256.New()
	err := s.getObject(ctx, key, size, func(body io.Reader) error {
		_, err := io.Copy(there, body)
		return err
	})
	if err == nil && bytes.Equal(there.Sum(nil), sum) {
		return nil
	}
	return errors.Join(because, err)
}

// putObject uploads a body with a known checksum if the key does not exist. S3 refuses it if the checksum does not match, and encrypts it
// with the key for its prefix. There is no other way to write, so nothing is ever overwritten.
func (s *Store) putObject(ctx context.Context, key string, body io.ReadSeeker, size int64, sum []byte) error {
	ctx, cancel := context.WithTimeout(ctx, s.timeoutFor(size))
	defer cancel()
	in := &s3.PutObjectInput{
		Bucket: &s.cfg.Bucket, Key: &key, Body: body, ContentLength: &size,
		ChecksumAlgorithm: types.ChecksumAlgorithmSha256,
		ChecksumSHA256:    aws.String(base64.StdEncoding.EncodeToString(sum)),
		IfNoneMatch:       aws.String("*"),
	}
	if kms := s.kmsKey(key); kms != "" {
		in.ServerSideEncryption, in.SSEKMSKeyId = types.ServerSideEncryptionAwsKms, &kms
	}
	if _, err := s.client.PutObject(ctx, in); err != nil {
		return fmt.Errorf("write %s: %w", s.refOf(key), classifyError(err))
	}
	return nil
}

// Read returns the object of a reference ("s3://bucket/key"); ErrMissing if there is none. It refuses references to other buckets and
// objects of more than 32 MiB.
func (s *Store) Read(ctx context.Context, ref string) ([]byte, error) {
	key, err := s.keyOf(ref)
	if err != nil {
		return nil, err
	}
	return s.readAll(ctx, key, readLimit)
}

// readAll reads a whole object of at most so many bytes into memory. A larger one is not what was written: ErrCorrupt.
func (s *Store) readAll(ctx context.Context, key string, most int64) (raw []byte, err error) {
	err = s.getObject(ctx, key, most, func(body io.Reader) (err error) {
		raw, err = io.ReadAll(io.LimitReader(body, most+1))
		if err == nil && int64(len(raw)) > most {
			err = fmt.Errorf("%w: it has more than %d bytes", ErrCorrupt, most)
		}
		return err
	})
	return raw, err
}

// getObject passes the body of an object of at most that size to use, within one timeout for all of it.
func (s *Store) getObject(ctx context.Context, key string, size int64, use func(io.Reader) error) error {
	ctx, cancel := context.WithTimeout(ctx, s.timeoutFor(size))
	defer cancel()
	out, err := s.client.GetObject(ctx, &s3.GetObjectInput{Bucket: &s.cfg.Bucket, Key: &key})
	if err != nil {
		return fmt.Errorf("read %s: %w", s.refOf(key), classifyError(err))
	}
	defer out.Body.Close()
	if err := use(out.Body); err != nil {
		return fmt.Errorf("read %s: %w", s.refOf(key), err)
	}
	return nil
}

// timeoutFor is the time limit of a call that transfers so many bytes: Timeout, plus time for large transfers at a very low speed.
func (s *Store) timeoutFor(size int64) time.Duration {
	const crawl = 1 << 20 // bytes per second
	return s.cfg.Timeout + time.Duration(size/crawl)*time.Second
}

// classifyError maps S3's errors to this package's.
func classifyError(err error) error {
	var api smithy.APIError
	if !errors.As(err, &api) {
		return err
	}
	switch api.ErrorCode() {
	case "PreconditionFailed":
		return fmt.Errorf("%w: %w", ErrExists, err)
	case "NoSuchKey", "NotFound":
		return fmt.Errorf("%w: %w", ErrMissing, err)
	}
	return err
}
