package app_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/devstack/servicetest"
	"github.com/ocpctl/ocpctl/policy"
)

// nonsense is a request of so many fields that are none.
func nonsense(fields int) string {
	var b strings.Builder
	b.WriteString(`{"name": "shop"`)
	for i := range fields {
		fmt.Fprintf(&b, `, "k%d": 1`, i)
	}
	return b.String() + "}"
}

func judged(ctx context.Context, h *servicetest.Fixture, text string) (policy.Verdict, []app.Field, error) {
	maya := policy.As("saml:maya", "maya", policy.Requester, "platform")
	request := app.ReadCreateRequest(strings.NewReader(text))
	request.Source = policy.SourceAPI
	v, err := h.Service.DryRun(ctx, maya, request)
	return v.Verdict, request.Wrong, err
}

func TestAtMostFiftyProblemsAreToldAndHowManyMoreThereAre(t *testing.T) {
	h := servicetest.New(t)
	v, wrong, err := judged(t.Context(), h, nonsense(5500))
	require.NoError(t, err)
	require.Len(t, wrong, 51)
	require.Equal(t, "k0", wrong[0].Name)
	require.Equal(t, "more", wrong[50].Name)
	require.Contains(t, wrong[50].Detail, "5450 more problems are not listed")
	refusals := v.Refusals()
	require.LessOrEqual(t, len(refusals), 51)
	require.False(t, v.Allowed)
	last := refusals[len(refusals)-1]
	require.Regexp(t, `^54\d\d more problems`, last.Message)

	maya := policy.As("saml:maya", "maya", policy.Requester, "platform")
	request := app.ReadCreateRequest(strings.NewReader(nonsense(5500)))
	request.Source = policy.SourceAPI
	_, err = h.Service.Create(t.Context(), maya, request)
	var refused *app.Error
	require.ErrorAs(t, err, &refused)
	require.Len(t, refused.Fields, 51)

	_, wrong, err = judged(t.Context(), h, nonsense(50))
	require.NoError(t, err)
	require.Len(t, wrong, 50, "all of them")
	_, wrong, err = judged(t.Context(), h, nonsense(51))
	require.NoError(t, err)
	require.Contains(t, wrong[50].Detail, "1 more problem is not listed")
}

// What a request costs grows with its length and no faster. Before, the refusals were listed anew for each field.
func TestADryRunCostsNoMoreThanItsLength(t *testing.T) {
	h := servicetest.New(t)
	text := nonsense(5500)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, _, err := judged(t.Context(), h, text)
	require.NoError(t, err)
	runtime.ReadMemStats(&after)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(64<<20))
}

func TestADryRunEndsWithItsRequest(t *testing.T) {
	h := servicetest.New(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, _, err := judged(ctx, h, nonsense(5500))
	require.ErrorIs(t, err, context.Canceled)
}
