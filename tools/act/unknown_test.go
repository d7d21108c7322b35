package main

import (
	"archive/tar"
	"bytes"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/github/workflow"
)

func TestEachJobHasThePropertiesThatActDoesNotKnow(t *testing.T) {
	order := workflow.JobOrder{}
	order.Index, order.Total, order.Env = 2, 3, map[string]string{"OCPCTL_JOB": "1900000007"}
	v := valuesOf(order)
	const text = "# strategy.job-index\nrun: echo ${{ strategy.job-index }} of ${{strategy.job-total}} in ${{ job.check_run_id || 'none' }} ${{ matrix.x }}\n"
	const want = "# strategy.job-index\nrun: echo ${{ '2' }} of ${{'3'}} in ${{ '1900000007' || 'none' }} ${{ matrix.x }}\n"
	require.Equal(t, map[string]string{"w.yml": want}, v.inAll(map[string]string{"w.yml": text}))

	var raw bytes.Buffer
	archive := tar.NewWriter(&raw)
	for _, name := range []string{"create/action.yml", "create/run.sh"} {
		require.NoError(t, archive.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(text))}))
		_, err := archive.Write([]byte(text))
		require.NoError(t, err)
	}
	require.NoError(t, archive.Close())
	changed, err := v.inArchive(io.NopCloser(&raw))
	require.NoError(t, err)
	reader := tar.NewReader(changed)
	for _, want := range []string{want, text} {
		_, err := reader.Next()
		require.NoError(t, err)
		content, err := io.ReadAll(reader)
		require.NoError(t, err)
		require.Equal(t, want, string(content))
	}
}
