// Package installer builds and controls stand-ins for three tools of OpenShift 4.20: openshift-install (package script),
// ccoctl (package ccoctl) and oc's commands for release images and clusters (package oc). They are separate programs, under cmd/.
// They have the real tools' commands, flags and environment, write their files with their modes (secrets included), print their log
// lines, use their exit codes and have their traps, and create what the real ones create: in the stand-in AWS at AWS_ENDPOINT_URL
// (package resources), or in the stand-in IBM Cloud at OCPCTL_STANDIN_IBMCLOUD_URL with the key in IC_API_KEY (package
// resources/ibmcloud), as the install-config or metadata.json says.
// They must never be used with a real cloud and refuse to be. Each says in `version` that it is a stand-in.
//
// # Location
//
// One binary serves every version: it takes its version from its folder, so <dir>/4.20.3/openshift-install and
// <dir>/4.20.1/openshift-install may be links to the same file. A program that oc extracts from a release is a short script that
// calls the stand-in beside oc with that release's version.
//
// # Control
//
//   - OCPCTL_STANDIN_PACE: the duration of one mark of the log, a Go duration, default 400ms (an install then takes six to
//     eight seconds). Tests use 5ms; with 0 it only waits for the cloud.
//   - OCPCTL_STANDIN_FAULTS: the path of a JSON file of Faults, read anew at every step and after every write to the cloud.
//     A missing file means no faults.
//   - OCPCTL_STANDIN_TRACE: the path of a file to which each command appends what it does; see Faults.
//
// # Differences to the real tools
//
// The tagging API of the stand-in AWS does not know the S3 server, so destroy reads the buckets' tags itself. wait-for and gather
// query the cloud for what exists of the cluster, because there is no cluster. ccoctl creates short keys and no private bucket, and
// does not remove a bucket's block on public access. On IBM Cloud the boot image is a few bytes, only networks of the installer's own are
// made, security groups have no rules, and what oc reads of a cluster comes from the stand-in's administration API. Only the installer checks roles: the operators start when theirs exist.
package installer

// Environment variables that the stand-ins read.
const (
	PaceVariable   = "OCPCTL_STANDIN_PACE"
	FaultsVariable = "OCPCTL_STANDIN_FAULTS"
	TraceVariable  = "OCPCTL_STANDIN_TRACE"

	// IBMCloudVariable is the address of the stand-in IBM Cloud, below which every service has its path.
	IBMCloudVariable = "OCPCTL_STANDIN_IBMCLOUD_URL"
	// AWSVariable is the address of the stand-in AWS for oc, which gets no variables of a cloud.
	AWSVariable = "OCPCTL_STANDIN_AWS_URL"
	// HubVariable is where oc reaches the hosted clusters of the stand-in hub.
	HubVariable = "OCPCTL_STANDIN_HUB_URL"
)

// RealVersion is the version of the real programs (package real).
const RealVersion = "4.19.0-ec.5"

// Versions are the versions of which there are releases, the catalogue's default first.
func Versions() []string { return []string{"4.20.3", "4.20.1", RealVersion} }

// The classes of leaked resources, for Fault.Leak.
const (
	LeakZone       = "zone-untagged"
	LeakRecord     = "public-record"
	LeakBucket     = "bucket-untagged"
	LeakImage      = "image-untagged"
	LeakProfile    = "profile"
	LeakIdentity   = "ccoctl"
	LeakUser       = "iam-user"
	LeakBalancer   = "workload-balancer"
	LeakVolume     = "workload-volume"
	LeakSnapshot   = "workload-snapshot"
	LeakDNS        = "workload-record"
	LeakForeign    = "foreign-arn"
	LeakGroupInUse = "group-in-use"
)

// The classes that only IBM Cloud has.
const (
	LeakMetadata        = "metadata-empty"
	LeakReclamation     = "reclamation"
	LeakAuthorization   = "authorization"
	LeakPage            = "records-past-page"
	LeakNetwork         = "permitted-network"
	LeakForeignBalancer = "foreign-balancer"
	LeakAddress         = "spare-address"
	LeakKey             = "ssh-key"
	LeakGhost           = "ghost-image"
)

// Leak is one class of leaked resources.
type Leak struct {
	Class   string
	Command string // the command that leaks them, as in Faults
	What    string // what that command does, and how destroy reacts
}

// Leaks are the classes, each as the real tools leak it. With FailAt or AfterWrites in the same fault the command also fails there;
// otherwise it succeeds.
func Leaks() []Leak {
	return []Leak{
		{LeakZone, "create", "the private zone gets no tags: destroy does not find it, nor the public records that have a twin in it"},
		{LeakRecord, "create", "the public api record gets no private twin: destroy never looks at it"},
		{LeakBucket, "create", "the bootstrap bucket gets no tags and outlives the bootstrap machine: destroy does not find it"},
		{LeakImage, "create", "the boot image is copied into the region and gets no tags: destroy finds neither it nor its snapshot"},
		{LeakProfile, "destroy", "the instance profiles lose their roles and stay: nobody asked for them by name"},
		{LeakUser, "destroy", "the operators' IAM users stay: reading them was refused, which destroy passes over in silence"},
		{LeakIdentity, "ccoctl-delete", "it says an error, deletes nothing and exits 0"},
		{LeakBalancer, "create", "a Service's classic load balancer and its security group, tagged as the cluster's: destroy removes them"},
		{LeakVolume, "create", "a claimed volume with its own tags but not the cluster's: destroy does not find it"},
		{LeakSnapshot, "create", "a retained volume snapshot with its own tags but not the cluster's: destroy does not find it"},
		{LeakDNS, "create", "a record of external-dns under the cluster's name in the public zone: destroy never looks at it"},
		{LeakForeign, "create", "a database with the cluster's tag: destroy does not know its service and tries for ever"},
		{LeakGroupInUse, "create", "a network interface of another service holds the nodes' security group: destroy is refused for ever"},
	}
}

// LeaksOn are the classes of a platform: "aws" or "ibmcloud".
func LeaksOn(platform string) []Leak {
	if platform != "ibmcloud" {
		return Leaks()
	}
	return []Leak{
		{LeakMetadata, "ignition-configs", "the look-ups for metadata.json fail in silence: destroy skips the DNS records"},
		{LeakBucket, "create", "the bootstrap bucket outlives the bootstrap machine, until its Object Storage goes"},
		{LeakBalancer, "create", "a Service's load balancer: its name contains the infraID, so destroy removes it"},
		{LeakVolume, "create", "a claimed volume without a tag of the cluster: destroy does not find it"},
		{LeakSnapshot, "create", "a retained snapshot of a claimed volume: destroy never looks at snapshots"},
		{LeakDNS, "create", "a record of external-dns for the cluster's domain itself: destroy looks at names below the domain only"},
		{LeakNetwork, "create", "the cluster's network may use a private zone: destroy never takes that back"},
		{LeakForeignBalancer, "create", "a user's load balancer in the cluster's subnets: they can never be deleted, and destroy tries for ever"},
		{LeakAddress, "create", "a floating IP with an invented name in the resource group: destroy does not find it"},
		{LeakKey, "create", "an SSH key in the resource group: destroy never looks at keys"},
		{LeakGhost, "create", "Resource Controller goes on listing the boot image after VPC deleted it: destroy never looks there"},
		{LeakReclamation, "destroy", "the Object Storage is deleted and not reclaimed, as after a kill in between"},
		{LeakAuthorization, "destroy", "the authorization to read the Object Storage stays, as if the storage had not been found"},
		{LeakPage, "destroy", "the cluster's DNS records stay, as if they were past the first page of the zone"},
		{LeakImage, "destroy", "the boot image stays, as if IBM's own images filled the first page"},
		{LeakIdentity, "ccoctl-delete", "the service IDs are not found, which is no error: they stay with their keys and access policies"},
	}
}
