package intake

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/scans"
)

func TestAScansReportIsCheckedBeforeItIsKept(t *testing.T) {
	good := func() contract.ScanReport {
		return contract.ScanReport{Seq: 3, Part: &contract.ScanPart{Name: "us-east-1/ec2", Last: true, Calls: 2, Resources: []contract.SeenResource{
			{ID: "vpc-1", Type: "vpc", Tags: map[string]string{"Name": "a\x00b", strings.Repeat("k", 2000): "x"}}, {ID: "vpc-2"}, {ID: "vpc-1", Type: "vpc", Name: "later"},
		}}}
	}
	row, err := ScanReport(good())
	require.NoError(t, err)
	require.Len(t, row.Part.Resources, 2, "a page shows a resource once")
	var kept contract.SeenResource
	require.NoError(t, json.Unmarshal(row.Part.Resources[0].Raw, &kept))
	require.Equal(t, "later", kept.Name)
	require.Empty(t, kept.Tags)
	beat, err := ScanReport(contract.ScanReport{Seq: 1})
	require.NoError(t, err)
	require.Nil(t, beat.Part)

	room := func() *contract.ScanRoom {
		return &contract.ScanRoom{Profile: "small", Region: "us-east-1", Quotas: []contract.Quota{{Service: "vpc", Code: "L-1", Limit: 5, Need: 1}}}
	}
	measured, err := ScanReport(contract.ScanReport{Seq: 1, Room: room()})
	require.NoError(t, err)
	require.Equal(t, &scans.RoomRow{Profile: "small", Region: "us-east-1", Quotas: []lifecycle.Quota{{Service: "vpc", Code: "L-1", Limit: 5, Need: 1}}}, measured.Room)

	for field, change := range map[string]func(*contract.ScanReport){
		"room.profile":         func(r *contract.ScanReport) { r.Room = room(); r.Room.Profile = "" },
		"room.region":          func(r *contract.ScanReport) { r.Room = room(); r.Room.Region = "a b" },
		"room.quotas[0].need":  func(r *contract.ScanReport) { r.Room = room(); r.Room.Quotas[0].Need = -1 },
		"seq":                  func(r *contract.ScanReport) { r.Seq = 0 },
		"part.name":            func(r *contract.ScanReport) { r.Part.Name = "us-east-1" },
		"part.calls":           func(r *contract.ScanReport) { r.Part.Calls = -1 },
		"part.err":             func(r *contract.ScanReport) { r.Part.Err, r.Part.Last = "denied", false },
		"part.resources":       func(r *contract.ScanReport) { r.Part.Resources = make([]contract.SeenResource, 10_001) },
		"part.resources[1].id": func(r *contract.ScanReport) { r.Part.Resources[1].ID = "" },
	} {
		t.Run(field, func(t *testing.T) {
			bad := good()
			change(&bad)
			_, err := ScanReport(bad)
			require.ErrorContains(t, err, field+": ")
		})
	}
}

func TestAScansResultIsCheckedBeforeItIsKept(t *testing.T) {
	row, err := ScanResult(contract.ScanResult{Outcome: "succeeded", Regions: []string{"us-east-1"}, Calls: map[string]int{"ec2": 7, "odd": -1}, Slowed: 1})
	require.NoError(t, err)
	require.Equal(t, map[string]int{"ec2": 7, "odd": 0}, row.Calls)
	for field, bad := range map[string]contract.ScanResult{
		"outcome": {Outcome: "lost"},
		"reason":  {Outcome: "failed", Reason: "two words"},
		"slowed":  {Outcome: "failed", Slowed: -1},
		"regions": {Outcome: "failed", Regions: make([]string, 201)},
	} {
		_, err := ScanResult(bad)
		require.ErrorContains(t, err, field+": ")
	}
}
