// Command ccoctl is the real ccoctl with its commands for AWS and IBM Cloud. Those for Nutanix do not compile beside the installer's versions.
package main

import (
	"log"

	"github.com/openshift/cloud-credential-operator/pkg/cmd/provisioning/aws"
	"github.com/openshift/cloud-credential-operator/pkg/cmd/provisioning/ibmcloud"
	"github.com/spf13/cobra"
)

func main() {
	root := &cobra.Command{Use: "ccoctl", Short: "OpenShift credentials provisioning tool"}
	root.AddCommand(aws.NewAWSCmd(), ibmcloud.NewIBMCloudCmd())
	if err := root.Execute(); err != nil { // cobra has printed it, before the usage
		log.Fatal(err)
	}
}
