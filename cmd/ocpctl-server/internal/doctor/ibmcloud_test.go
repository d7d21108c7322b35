package doctor

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/cmd/ocpctl-server/internal/config"
)

func TestWhatIsSetForIBMCloudIsExamined(t *testing.T) {
	account := strings.Repeat("0a", 16)
	for name, c := range map[string]struct {
		on   bool
		set  config.Clouds
		also []config.ScanAccount
		want map[string]Status
	}{
		"off":                   {false, config.Clouds{}, nil, map[string]Status{"ibmcloud.account": Skipped}},
		"no account":            {true, config.Clouds{}, nil, map[string]Status{"ibmcloud.account": Warn, "ibmcloud.scan": Warn}},
		"an account":            {true, config.Clouds{IBMCloud: config.Cloud{Account: account}}, nil, map[string]Status{"ibmcloud.account": OK, "ibmcloud.scan": OK}},
		"only AWS is looked at": {true, config.Clouds{IBMCloud: config.Cloud{Account: account}}, []config.ScanAccount{{Account: "123456789012"}}, map[string]Status{"ibmcloud.account": OK, "ibmcloud.scan": Warn}},
	} {
		t.Run(name, func(t *testing.T) {
			d, f := &doctor{}, &findings{area: "ibmcloud"}
			d.Settings.Features.IBMCloud, d.Settings.Clouds, d.Settings.Scan.Accounts = c.on, c.set, c.also
			d.ibmCloud(t.Context(), f)
			got := map[string]Status{}
			for _, r := range f.results {
				got[r.Check] = r.Status
			}
			require.Equal(t, c.want, got)
		})
	}
}
