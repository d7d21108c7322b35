package api

import (
	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/internal/names"
	"github.com/ocpctl/ocpctl/store/attempts"
)

// Conversion of rows to the contract's documents; store/intake converts in the other direction.

// toIdentities returns what a teardown uses. Metadata is always built from the cluster's row, whatever was recorded.
func toIdentities(row attempts.SpecRow, installation string) []contract.Identity {
	of := names.Scope{
		Platform: row.Row.Platform, Installation: installation, Cluster: row.Row.ID, Attempt: row.Number, Name: row.Row.Name, BaseDomain: row.Row.BaseDomain, Region: row.Row.Region,
	}
	var out []contract.Identity
	for _, i := range row.Identities {
		identity := contract.Identity{
			InfraID: i.InfraID, ClusterUUID: i.ClusterUUID, CCOName: i.CCOName,
			Account: i.Account, Region: i.Region, ReleaseDigest: i.ReleaseDigest, InstallerSHA256: i.InstallerSHA256, ResourceGroupID: i.ResourceGroupID,
		}
		if i.InfraID != "" {
			identity.Metadata = string(of.MetadataJSON(names.Identity{InfraID: i.InfraID, ClusterUUID: i.ClusterUUID, CCOName: i.CCOName, Account: i.Account}))
		}
		out = append(out, identity)
	}
	return out
}

func toSnapshots(rows []attempts.ArtifactRow) []contract.Snapshot {
	var out []contract.Snapshot
	for _, a := range rows {
		out = append(out, contract.Snapshot{
			Type: a.Type, Key: a.Key, ManifestKey: a.ManifestKey, SHA256: a.SHA256, Size: a.Size, InfraID: a.InfraID, TakenAt: a.TakenAt,
		})
	}
	return out
}
