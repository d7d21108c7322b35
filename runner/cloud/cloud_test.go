package cloud

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/internal/contract"
)

func TestATargetIsInEveryRecordedRegionAndAccount(t *testing.T) {
	target := Target{Region: "us-east", Account: "a", Identities: []contract.Identity{{}, {Region: "eu-de", Account: "a"}, {Region: "us-east", Account: "b"}}}
	require.Equal(t, []string{"us-east", "eu-de"}, target.Regions())
	require.Equal(t, "b", target.RecordedAccount("a"), "a single mismatch is noticed")
	require.Equal(t, "a", target.RecordedAccount("b"))
	require.Equal(t, "c", Target{}.RecordedAccount("c"), "none was recorded")
	require.Empty(t, Target{}.Regions())
}

func TestWhatIsInUseIsOneProblem(t *testing.T) {
	require.Empty(t, NameInUse(nil, "taken", "choose another"))
	problems := NameInUse([]string{"b", "a", "b"}, "taken", "choose another")
	require.Len(t, problems, 1)
	require.Equal(t, "taken (a, b)", problems[0].Message)
	require.True(t, problems[0].Block)
}
