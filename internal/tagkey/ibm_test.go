package tagkey

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestATagOfOursIsWhatIBMCloudStores(t *testing.T) {
	for _, c := range []struct{ key, value, want string }{
		{ClusterID, "clu_01J9Z3", "clusterid:clu_01j9z3"},
		{ManagedBy, ControlPlaneName, "managedby:cluster-control-plane"},
		{Owner, "Maya.Lee+ocp@example.com", "owner:maya.lee-ocp-example.com"},
		{Owner, "maya é", "owner:maya -"},
		{TTLExpiry, "2025-01-04T12:00:00Z", "ttlexpiry:2025-01-04t12:00:00z"},
		{"a:b/c", " https://example.com ", "a-b-c:https:--example.com"},
		{Team, "", "team:"},
		{Owner, strings.Repeat("m", 121) + " m", "owner:" + strings.Repeat("m", 121)},
		{Owner, strings.Repeat("m", 256), "owner:" + strings.Repeat("m", 122)},
	} {
		require.Equal(t, c.want, IBM(c.key, c.value))
	}
}

func TestEveryTagBecomesOneThatIBMCloudAccepts(t *testing.T) {
	accepted := regexp.MustCompile(`^[a-z0-9 _.-]*:[a-z0-9 _.:-]*$`)
	rapid.Check(t, func(t *rapid.T) {
		key, value := rapid.StringN(1, 40, 100).Draw(t, "key"), rapid.String().Draw(t, "value")
		tag := IBM(key, value)
		require.Regexp(t, accepted, tag)
		require.LessOrEqual(t, len(tag), MaxIBM)
		stored, rest, _ := strings.Cut(tag, ":")
		require.Equal(t, tag, IBM(stored, rest), "what is stored does not change again")
	})
}
