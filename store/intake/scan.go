package intake

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/scans"
)

// plainPart is the name of a part: a region, or global, and a service.
var plainPart = regexp.MustCompile(`^[a-z0-9][-a-z0-9]{0,39}/[a-z0-9][-a-z0-9]{0,39}$`)

// These limit what one report of a scan says. AWS allows 50 tags on a resource, with keys of 128 and values of 256 characters.
const (
	maxResources  = 10_000
	maxResourceID = 2048 // bytes
	maxTags       = 200
	maxTagText    = 1024 // bytes
	maxRegions    = 200
	maxServices   = 200
)

// ScanReport converts a report of a scan to a row. Of a resource that a page shows twice, the last one counts.
func ScanReport(r contract.ScanReport) (scans.ReportRow, error) {
	var bad Invalid
	bad.check(r.Seq < 1 || r.Seq > maxNumber, "seq", fmt.Sprintf("%d is not a report number", r.Seq), "1, 2, 3 …")
	out := scans.ReportRow{Seq: r.Seq}
	if room := r.Room; room != nil {
		bad.check(!plainName.MatchString(room.Profile), "room.profile", fmt.Sprintf("%.80q is not a profile", room.Profile), "a profile of the claim's plans")
		bad.check(!plainName.MatchString(room.Region), "room.region", fmt.Sprintf("%.80q is not a region", room.Region), "a region of the claim's plans")
		out.Room = &scans.RoomRow{Profile: room.Profile, Region: room.Region, Quotas: bad.quotas("room.quotas", room.Quotas)}
	}
	if r.Part == nil {
		return out, bad.err()
	}
	p := *r.Part
	bad.check(!plainPart.MatchString(p.Name), "part.name", fmt.Sprintf("%.80q does not name a part", p.Name), "a region and a service, e.g. us-east-1/ec2")
	bad.check(p.Calls < 0 || p.Calls > maxNumber, "part.calls", "it is not a number of calls", "0, 1, 2 …")
	bad.check(p.Err != "" && !p.Last, "part.err", "only the last page says why a part is incomplete", "empty while more pages follow")
	bad.check(len(p.Resources) > maxResources, "part.resources", fmt.Sprintf("there are %d", len(p.Resources)), fmt.Sprintf("at most %d", maxResources))
	for n, one := range p.Resources {
		at := fmt.Sprintf("part.resources[%d]", n)
		bad.check(one.ID == "" || len(one.ID) > maxResourceID, at+".id", "it names no resource", fmt.Sprintf("an ARN, or type/id, of at most %d bytes", maxResourceID))
		bad.check(len(one.Tags) > maxTags, at+".tags", fmt.Sprintf("there are %d", len(one.Tags)), fmt.Sprintf("at most %d", maxTags))
		if len(bad) > 20 {
			break
		}
	}
	if len(bad) > 0 {
		return scans.ReportRow{}, bad
	}
	out.Part = &scans.PartRow{Name: p.Name, Last: p.Last, Calls: p.Calls, Err: sentence(p.Err)}
	at := map[string]int{}
	for _, one := range p.Resources {
		row, err := resourceRow(one)
		if err != nil {
			return scans.ReportRow{}, err
		}
		if i, twice := at[row.ID]; twice {
			out.Part.Resources[i] = row
			continue
		}
		at[row.ID] = len(out.Part.Resources)
		out.Part.Resources = append(out.Part.Resources, row)
	}
	return out, nil
}

func resourceRow(r contract.SeenResource) (scans.ResourceRow, error) {
	for _, of := range []*string{&r.ID, &r.Type, &r.Region, &r.Name, &r.Within, &r.Detail} {
		*of = sentence(*of)
	}
	tags := make(map[string]string, len(r.Tags))
	for key, value := range r.Tags {
		if len(key) <= maxTagText && len(value) <= maxTagText { // a cloud has no longer ones
			tags[text(key)] = text(value)
		}
	}
	r.Tags = tags
	raw, err := json.Marshal(r)
	if err != nil {
		return scans.ResourceRow{}, fmt.Errorf("encode resource %.80q: %w", r.ID, err)
	}
	return scans.ResourceRow{ID: r.ID, Raw: document(raw)}, nil
}

// ScanResult converts the end of a scan to a row.
func ScanResult(r contract.ScanResult) (scans.ResultRow, error) {
	var bad Invalid
	how := []lifecycle.Outcome{lifecycle.Succeeded, lifecycle.Failure, lifecycle.Stopped}
	bad.check(!slices.Contains(how, lifecycle.Outcome(r.Outcome)), "outcome", fmt.Sprintf("%.40q is not an outcome of a scan", r.Outcome), toStrings(how)...)
	bad.check(r.Reason != "" && !plainReason.MatchString(r.Reason), "reason", fmt.Sprintf("%.80q is not one word", r.Reason), "one word of at most 64 letters and digits")
	verdicts := []string{"", contract.ProofProven, contract.ProofLacking, contract.ProofRefused}
	bad.check(!slices.Contains(verdicts, r.Proof), "proof", fmt.Sprintf("%.40q is not what a proof finds out", r.Proof), verdicts[1:]...)
	bad.check(r.Slowed < 0 || r.Slowed > maxNumber, "slowed", "it is not a number of calls", "0, 1, 2 …")
	bad.check(len(r.Regions) > maxRegions, "regions", fmt.Sprintf("there are %d", len(r.Regions)), fmt.Sprintf("at most %d", maxRegions))
	bad.check(len(r.Calls) > maxServices, "calls", fmt.Sprintf("there are %d services", len(r.Calls)), fmt.Sprintf("at most %d", maxServices))
	if len(bad) > 0 {
		return scans.ResultRow{}, bad
	}
	out := scans.ResultRow{Outcome: lifecycle.Outcome(r.Outcome), Reason: r.Reason, Message: sentence(r.Message), Next: sentence(r.Next), Slowed: r.Slowed, Proof: r.Proof, Calls: map[string]int{}}
	for _, region := range r.Regions {
		out.Regions = append(out.Regions, sentence(region))
	}
	for service, calls := range r.Calls {
		out.Calls[sentence(service)] = max(calls, 0)
	}
	return out, nil
}
