package pulls_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestACommentCanBeADryRun(t *testing.T) {
	h := opened(t)
	said := func(id int64, line string) string {
		h.Comment(id, "will", line)
		replies := h.Replies()
		return replies[len(replies)-1]
	}
	before := h.LeftBehind()
	text := said(1, "/ocp create aws-standard --dry-run --ttl 8h")
	require.Contains(t, text, "this was a dry run: nothing was created")
	require.Contains(t, text, "profile `aws-standard`")
	require.Contains(t, text, "for 8 h")
	require.Contains(t, said(2, "/ocp create --dry-run --region mars-1"), "mars-1")
	require.Contains(t, said(3, "/ocp create --dry-run=yes"), "`--dry-run` takes no value")
	after := h.LeftBehind()
	require.Equal(t, before[:6], after[:6])
	require.Empty(t, h.Clusters())

	h.Comment(4, "will", "/ocp create --name demo")
	require.Equal(t, "demo", h.Only().Name)
	require.Contains(t, said(5, "/ocp create aws-standard --name demo --dry-run"), "The name demo is taken")
	require.Contains(t, said(6, "/ocp create --dry-run"), "there is one already")
	require.Len(t, h.Clusters(), 1)
}
