package pulls_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCommentsTellOfTheClusterThatIsGone(t *testing.T) {
	h := opened(t)
	h.Comment(1, "will", "/ocp create")
	row := h.Only()
	h.Release(row)
	since := "`" + row.Name + "` was destroyed: nothing has been left of it since "
	for i, c := range []struct{ line, want string }{
		{"/ocp status", "`" + row.Name + "`"},
		{"/ocp status " + profile, "`" + row.Name + "`"},
		{"/ocp logs", "`" + row.Name + "`"},
		{"/ocp destroy", since},
		{"/ocp extend 4h", "@will: " + strings.ReplaceAll(since, "`", "")},
		{"/ocp destroy aws-standard", "no cluster of profile `aws-standard`"},
	} {
		h.Comment(int64(i+2), "will", c.line)
		said := h.Replies()
		require.Contains(t, said[len(said)-1], c.want, c.line)
	}
}
