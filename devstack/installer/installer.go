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
)

// RealVersion is the version of the real programs (package real).
const RealVersion = "4.19.0-ec.5"

// Versions are the versions of which there are releases, the catalogue's default first.
func Versions() []string { return []string{"4.20.3", "4.20.1", RealVersion} }
