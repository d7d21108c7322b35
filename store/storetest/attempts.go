package storetest

import (
	"encoding/json"

	"github.com/ocpctl/ocpctl/store/attempts"
)

// Pass is a clean verification of one identity.
func Pass(number int) *attempts.PassRow {
	return &attempts.PassRow{
		Number: number, Account: "123456789012", Identities: []string{"demo-abcde"}, Control: "arn:aws:iam::123456789012:user/runner",
		Queries: json.RawMessage(`[{"service":"ec2","call":"DescribeVpcs","count":0}]`), Clean: true,
	}
}
