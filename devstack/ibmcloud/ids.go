package ibmcloud

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"strings"
)

func hexes(n int) string {
	b := make([]byte, (n+1)/2)
	_, _ = rand.Read(b) // crypto/rand never fails
	return hex.EncodeToString(b)[:n]
}

func newUUID() string {
	h := hexes(32)
	return fmt.Sprintf("%s-%s-4%s-a%s-%s", h[:8], h[8:12], h[13:16], h[17:20], h[20:])
}

// newName is the name that VPC invents where a request has none.
func newName() string {
	h := hexes(12)
	return strings.Join([]string{"unnamed", h[:4], h[4:8], h[8:]}, "-")
}

// vpcPrefixes begin the ids of regional resources, as IBM numbers its regions.
var vpcPrefixes = map[string]string{"us-south": "r006", "us-east": "r014", "eu-de": "r010", "eu-gb": "r018", "jp-tok": "r022", "ca-tor": "r038"}

func newVPCID(region, zone string) string {
	if zone != "" {
		return fmt.Sprintf("%04d_%s", 700+int(zone[len(zone)-1]-'0'), newUUID())
	}
	prefix := vpcPrefixes[region]
	if prefix == "" {
		prefix = "r099"
	}
	return prefix + "-" + newUUID()
}
