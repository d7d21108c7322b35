package controller_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/internal/artifacts"
	"github.com/ocpctl/ocpctl/internal/queue"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/reports"
)

// shelf lists folders in pages of two, and ends with err.
type shelf struct {
	folders []artifacts.Folder
	err     error
}

func (s *shelf) put(below, cluster string) {
	s.folders = append(s.folders, artifacts.Folder{Cluster: cluster, Ref: "s3://artifacts/" + below + cluster + "/"})
}

func (s *shelf) EachCluster(_ context.Context, do func([]artifacts.Folder) error) error {
	for from := 0; from < len(s.folders); from += 2 {
		if err := do(s.folders[from:min(from+2, len(s.folders))]); err != nil {
			return err
		}
	}
	return s.err
}

func (h *fixture) unknownArchives() []reports.FindingRow {
	h.t.Helper()
	open, err := h.store.Reports.Findings(h.ctx, reports.FindingFilter{Kind: lifecycle.ArchiveUnknown})
	require.NoError(h.t, err)
	return open
}

func TestArchivesOfClustersThatTheDatabaseDoesNotKnowAreFindings(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	s := &shelf{}
	h.Archives = s
	known, gone := h.accept("shop"), h.gone("old")
	s.put("clusters/", known.ID)
	s.put("clusters/", gone)
	s.put("clusters/", "clu_newer")
	s.put("operate/clusters/", known.ID)
	s.put("operate/clusters/", "clu_newer")
	h.work(queue.ArchivesArgs{})
	found := h.unknownArchives()
	require.Len(t, found, 1)
	require.Equal(t, "clu_newer", found[0].Identity)
	require.Empty(t, found[0].Cluster)
	require.Equal(t, []string{"s3://artifacts/clusters/clu_newer/", "s3://artifacts/operate/clusters/clu_newer/"}, found[0].Evidence)
	require.Contains(t, found[0].Why, "ocpctl-server recover")
	said := func() (n int) {
		for _, line := range h.log.lines(t, "found") {
			if line["kind"] == string(lifecycle.ArchiveUnknown) {
				n++
			}
		}
		return n
	}
	require.Equal(t, 1, said())

	h.pass(24 * time.Hour)
	h.work(queue.FindingsArgs{})
	h.work(queue.ArchivesArgs{})
	again := h.unknownArchives()
	require.Len(t, again, 1, "a look does not judge what it does not look at")
	require.Equal(t, found[0].Since, again[0].Since)
	require.Equal(t, 2, again[0].TimesSeen)
	require.Equal(t, 1, said(), "it is said once")

	s.folders, s.err = s.folders[:2], errors.New("AccessDenied: s3:ListBucket")
	require.ErrorContains(t, h.Work(h.ctx, queue.ArchivesArgs{}, h.now()), "AccessDenied")
	require.Len(t, h.unknownArchives(), 1, "half a look resolves nothing")
	s.err = nil
	h.work(queue.ArchivesArgs{})
	require.Empty(t, h.unknownArchives(), "it was recovered, or somebody deleted the objects")
}

func TestOneLookAtTheBucketTellsOfAHundredClustersAtMost(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	s := &shelf{}
	h.Archives = s
	for _, below := range []string{"clusters/", "operate/clusters/"} {
		for i := range queue.MostWorkFindings + 20 {
			s.put(below, fmt.Sprintf("clu_%03d", i))
		}
	}
	h.work(queue.ArchivesArgs{})
	found := h.unknownArchives()
	require.Len(t, found, queue.MostWorkFindings)
	for _, f := range found {
		require.Len(t, f.Evidence, 2, f.Identity)
	}
}
