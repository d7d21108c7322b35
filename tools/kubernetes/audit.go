package main

import (
	"os"
	"path/filepath"
)

// auditName is the log of the calls that service accounts make, but for those of the controllers. Tests count them.
const auditName = "audit.log"

const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
  - {level: None, userGroups: ["system:masters", "system:nodes", "system:serviceaccounts:kube-system"]}
  - {level: Metadata, userGroups: ["system:serviceaccounts"]}
  - {level: None}
`

// audit returns the API server's flags for the log of calls.
func (c *cluster) audit() ([]string, error) {
	policy := filepath.Join(c.Dir, "audit-policy.yaml")
	if err := os.WriteFile(policy, []byte(auditPolicy), 0o600); err != nil {
		return nil, err
	}
	return []string{"--audit-policy-file=" + policy, "--audit-log-path=" + filepath.Join(c.Dir, auditName), "--audit-log-maxsize=50", "--audit-log-maxbackup=2"}, nil
}
