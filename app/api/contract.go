package api

import (
	"github.com/ocpctl/ocpctl/runner/contract"
	"github.com/ocpctl/ocpctl/store"
)

// Rows as the contract's documents, field by field; the other way is store/intake's.

func identities(rows []store.IdentityRow) []contract.Identity {
	var out []contract.Identity
	for _, i := range rows {
		out = append(out, contract.Identity{
			InfraID: i.InfraID, ClusterUUID: i.ClusterUUID, CCOName: i.CCOName,
			Account: i.Account, Region: i.Region, ReleaseDigest: i.ReleaseDigest, Metadata: i.Metadata,
			InstallerSHA256: i.InstallerSHA256,
		})
	}
	return out
}

func snapshots(rows []store.ArtifactRow) []contract.Snapshot {
	var out []contract.Snapshot
	for _, a := range rows {
		out = append(out, contract.Snapshot{
			Type: a.Type, Key: a.Key, ManifestKey: a.ManifestKey, SHA256: a.SHA256, Size: a.Size, InfraID: a.InfraID, TakenAt: a.TakenAt,
		})
	}
	return out
}
