package app_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/policy"
)

func TestEndsStandInTheOrderInWhichTheyTakeEffect(t *testing.T) {
	h, _ := onPull(t)
	h.Comment(2, "will", "/ocp create")
	row := h.Clusters()[1]
	h.Sync(h.Event("closed", "will", false))
	_, err := h.Service.Hold(t.Context(), maya, row.ID, app.Span{For: 3 * time.Hour}, app.Origin{Source: policy.SourceWeb, Why: "a demo"})
	require.NoError(t, err)
	why, err := h.Service.Explain(t.Context(), maya, row.ID)
	require.NoError(t, err)
	var kinds []string
	for _, end := range why.Ends {
		kinds = append(kinds, end.Kind)
	}
	require.Equal(t, []string{"hold", "pr_closed", "ttl", "maximum"}, kinds)
	require.Contains(t, why.Ends[1].Message, "the hold postpones it to")
}
