// Command ccoctl is the real ccoctl with its commands for AWS and IBM Cloud. Those for Nutanix do not compile beside the installer's versions.
package main

import (
	"os"

	"github.com/openshift/cloud-credential-operator/pkg/cmd/provisioning/aws"
	"github.com/openshift/cloud-credential-operator/pkg/cmd/provisioning/ibmcloud"
	"github.com/spf13/cobra"
)

func main() {
	root := &cobra.Command{Use: "ccoctl", SilenceUsage: true}
	root.AddCommand(aws.NewAWSCmd(), ibmcloud.NewIBMCloudCmd())
	if root.Execute() != nil { // cobra has printed the error
		os.Exit(1)
	}
}
