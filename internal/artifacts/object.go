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

// readLimit bounds what is read into memory: documents and manifests, never archives.
const readLimit = 32 << 20

// largestPut is what S3 takes in one request.
const largestPut = 5 << 30

// PutOnce writes a small object that must not exist yet: ErrExists where one with other content does. Writing the
// same content twice is writing it once, so an answer that got lost may be asked for again.
func (s *Store) PutOnce(ctx context.Context, key string, data []byte) (ref string, err error) {
	sum := sha256.Sum256(data)
	err = s.put(ctx, key, bytes.NewReader(data), int64(len(data)), sum[:])
	if errors.Is(err, ErrExists) {
		there, readErr := s.Read(ctx, s.ref(key))
		if readErr == nil && bytes.Equal(there, data) {
			return s.ref(key), nil
		}
		err = errors.Join(err, readErr)
	}
	if err != nil {
		return "", err
	}
	return s.ref(key), nil
}

// Keep writes a file of any size, once, without reading it into memory. What it returns is what S3 was proven to hold. As
// with PutOnce, a second try that finds the first one's object is content.
func (s *Store) Keep(ctx context.Context, t Type, key, path string) (Snapshot, error) {
	taken := s.cfg.Now().UTC()
	file, err := os.Open(path)
	if err != nil {
		return Snapshot{}, fmt.Errorf("keep %s: %w", filepath.Base(path), err)
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
		return Snapshot{}, fmt.Errorf("keep %s: %w", filepath.Base(path), err)
	}
	if err = s.put(ctx, key, file, size, sum.Sum(nil)); errors.Is(err, ErrExists) {
		err = s.holds(ctx, key, size, sum.Sum(nil), err)
	}
	return Snapshot{Type: t, Key: key, SHA256: hex.EncodeToString(sum.Sum(nil)), Size: size, TakenAt: taken}, err
}

// holds returns nil where the object at key is the one with this checksum, and otherwise the error that led to asking.
func (s *Store) holds(ctx context.Context, key string, size int64, sum []byte, because error) error {
	there := sha256.New()
	err := s.get(ctx, key, size, func(body io.Reader) error {
		_, err := io.Copy(there, body)
		return err
	})
	if err == nil && bytes.Equal(there.Sum(nil), sum) {
		return nil
	}
	return errors.Join(because, err)
}

// put uploads a body whose checksum is known, where nothing lies yet. S3 refuses it where the checksum does not match what
// arrived, and encrypts it with the key of its prefix. There is no other way to write: nothing is ever overwritten.
func (s *Store) put(ctx context.Context, key string, body io.ReadSeeker, size int64, sum []byte) error {
	ctx, cancel := context.WithTimeout(ctx, s.timeout(size))
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
		return fmt.Errorf("write %s: %w", s.ref(key), classify(err))
	}
	return nil
}

// Read returns the object a reference ("s3://bucket/key") names; ErrMissing where there is none. It refuses
// references to other buckets and objects of more than 32 MiB.
func (s *Store) Read(ctx context.Context, ref string) ([]byte, error) {
	key, err := s.keyOf(ref)
	if err != nil {
		return nil, err
	}
	return s.readAll(ctx, key, readLimit)
}

// readAll reads a whole object of at most so many bytes into memory. A larger one is not what was written: ErrCorrupt.
func (s *Store) readAll(ctx context.Context, key string, most int64) (raw []byte, err error) {
	err = s.get(ctx, key, most, func(body io.Reader) (err error) {
		raw, err = io.ReadAll(io.LimitReader(body, most+1))
		if err == nil && int64(len(raw)) > most {
			err = fmt.Errorf("%w: it has more than %d bytes", ErrCorrupt, most)
		}
		return err
	})
	return raw, err
}

// get hands the body of an object of at most that size to use, within one timeout for all of it.
func (s *Store) get(ctx context.Context, key string, size int64, use func(io.Reader) error) error {
	ctx, cancel := context.WithTimeout(ctx, s.timeout(size))
	defer cancel()
	out, err := s.client.GetObject(ctx, &s3.GetObjectInput{Bucket: &s.cfg.Bucket, Key: &key})
	if err != nil {
		return fmt.Errorf("read %s: %w", s.ref(key), classify(err))
	}
	defer out.Body.Close()
	if err := use(out.Body); err != nil {
		return fmt.Errorf("read %s: %w", s.ref(key), err)
	}
	return nil
}

// timeout is how long a call may take that moves so many bytes: Timeout, and beyond a few of them as if they crawled.
func (s *Store) timeout(size int64) time.Duration {
	const crawl = 1 << 20 // bytes a second
	return s.cfg.Timeout + time.Duration(size/crawl)*time.Second
}

// classify gives S3's words our names.
func classify(err error) error {
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
