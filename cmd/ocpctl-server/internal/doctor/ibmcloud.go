package doctor

import (
	"context"
	"slices"

	"github.com/ocpctl/ocpctl/cmd/ocpctl-server/internal/config"
)

// ibmCloud checks what is set for IBM Cloud. It calls nothing there: only runners have the API key, and the server has no SDK for it.
func (d *doctor) ibmCloud(_ context.Context, f *findings) {
	c := d.Settings
	if !c.Features.IBMCloud {
		f.skip("account", "features.ibm_cloud is off")
		return
	}
	account := c.Cloud("ibmcloud").Account
	if account == "" {
		f.warn("account", "Set clouds.ibmcloud.account (ibmcloud account show), so that no cluster is created elsewhere.", "clouds.ibmcloud.account is not set")
	} else {
		f.ok("account", "clusters are created in %s alone; each runner compares it with the account of its API key", account)
	}
	scanned := slices.ContainsFunc(c.ScanAccounts(), func(a config.ScanAccount) bool {
		return a.Platform == "ibmcloud" && (account == "" || a.Account == account)
	})
	if scanned {
		f.ok("scan", "the account is looked through for orphans")
	} else {
		f.warn("scan", "Set clouds.ibmcloud.account, or add the account to scan.accounts with platform: ibmcloud.", "no account on IBM Cloud is looked through for orphans")
	}
}
