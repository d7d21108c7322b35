package artifacts_test

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/internal/artifacts"
)

func TestASnapshotIsStreamedAndWhatIsNotWhatWasStoredIsAnError(t *testing.T) {
	s, client, bucket := newStore(t)
	path, key := filepath.Join(t.TempDir(), "log-bundle-1.tar.gz"), access+"log-bundle-1.tar.gz"
	require.NoError(t, os.WriteFile(path, []byte("journals"), 0o600))
	kept, err := s.Keep(t.Context(), artifacts.Log, key, path)
	require.NoError(t, err)
	read := func() (string, error) {
		var got strings.Builder
		err := s.Stream(t.Context(), kept, func(body io.Reader) error {
			_, err := io.Copy(&got, body)
			return err
		})
		return got.String(), err
	}
	got, err := read()
	require.NoError(t, err)
	require.Equal(t, "journals", got)

	_, err = client.PutObject(t.Context(), &s3.PutObjectInput{Bucket: &bucket, Key: &key, Body: strings.NewReader("journal!")})
	require.NoError(t, err)
	_, err = read()
	require.ErrorIs(t, err, artifacts.ErrCorrupt)
	_, err = client.PutObject(t.Context(), &s3.PutObjectInput{Bucket: &bucket, Key: &key, Body: strings.NewReader("journals and much more than that")})
	require.NoError(t, err)
	got, err = read()
	require.ErrorIs(t, err, artifacts.ErrCorrupt)
	require.Len(t, got, len("journals")+1, "a longer object is not read to its end")

	_, err = client.DeleteObject(t.Context(), &s3.DeleteObjectInput{Bucket: &bucket, Key: &key})
	require.NoError(t, err)
	got, err = read()
	require.ErrorIs(t, err, artifacts.ErrMissing)
	require.Empty(t, got)
}
