package artifacts

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go"
)

// readLimit bounds what is read into memory: documents and manifests, never archives.
const readLimit = 32 << 20

// Put writes a small object and returns its reference. The object may exist already and is then replaced.
func (s *Store) Put(ctx context.Context, key string, data []byte) (ref string, err error) {
	return s.putBytes(ctx, key, data, false)
}

// PutOnce writes a small object that must not exist yet: ErrExists where one with other content does. Writing the
// same content twice is writing it once, so an answer that got lost may be asked for again.
func (s *Store) PutOnce(ctx context.Context, key string, data []byte) (ref string, err error) {
	ref, err = s.putBytes(ctx, key, data, true)
	if !errors.Is(err, ErrExists) {
		return ref, err
	}
	if there, readErr := s.Read(ctx, s.ref(key)); readErr != nil || !bytes.Equal(there, data) {
		return "", errors.Join(err, readErr)
	}
	return s.ref(key), nil
}

func (s *Store) putBytes(ctx context.Context, key string, data []byte, once bool) (string, error) {
	sum := sha256.Sum256(data)
	if err := s.put(ctx, key, bytes.NewReader(data), int64(len(data)), sum[:], once); err != nil {
		return "", err
	}
	return s.ref(key), nil
}

// put uploads a body whose checksum is known. S3 refuses it where the checksum does not match what arrived.
func (s *Store) put(ctx context.Context, key string, body io.ReadSeeker, size int64, sum []byte, once bool) error {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.Timeout)
	defer cancel()
	in := &s3.PutObjectInput{
		Bucket: &s.cfg.Bucket, Key: &key, Body: body, ContentLength: &size,
		ChecksumAlgorithm: types.ChecksumAlgorithmSha256,
		ChecksumSHA256:    aws.String(base64.StdEncoding.EncodeToString(sum)),
	}
	if once {
		in.IfNoneMatch = aws.String("*")
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
	var raw []byte
	err = s.get(ctx, key, func(body io.Reader) (err error) {
		raw, err = io.ReadAll(io.LimitReader(body, readLimit+1))
		if err == nil && len(raw) > readLimit {
			err = errors.New("larger than is read into memory")
		}
		return err
	})
	return raw, err
}

// get hands an object's body to use, within one timeout for all of it.
func (s *Store) get(ctx context.Context, key string, use func(io.Reader) error) error {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.Timeout)
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
