package runner

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/internal/contract"
)

// machineAPI is the namespace of a cluster's machines. The installer creates a machine set for every zone of its install-config, with
// 0 machines if no workers are wanted.
const machineAPI = "openshift-machine-api"

// machineSet is the workers of one zone.
type machineSet struct {
	Name   string
	Wanted int // requested machines
	There  int // existing machines, ready or not
	Ready  int
}

// machineSets lists the machine sets of workers, by name. Sets of other roles (infra, edge) are not scaled.
func (a *attempt) machineSets(ctx context.Context) ([]machineSet, error) {
	raw, err := a.askPatiently(ctx, "get", "machinesets.machine.openshift.io", "-n", machineAPI, "-o", "json")
	if err != nil {
		return nil, err
	}
	var list struct {
		Items []struct {
			Metadata struct{ Name string }
			Spec     struct {
				Replicas *int
				Template struct {
					Metadata struct{ Labels map[string]string }
				}
			}
			Status struct{ Replicas, ReadyReplicas int }
		}
	}
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, explainUnreadable("machine sets")
	}
	var sets []machineSet
	for _, item := range list.Items {
		if item.Spec.Template.Metadata.Labels["machine.openshift.io/cluster-api-machine-role"] != "worker" {
			continue
		}
		set := machineSet{Name: item.Metadata.Name, Wanted: 1, There: item.Status.Replicas, Ready: item.Status.ReadyReplicas}
		if item.Spec.Replicas != nil { // the machine API's default
			set.Wanted = *item.Spec.Replicas
		}
		sets = append(sets, set)
	}
	if len(sets) == 0 {
		return nil, failure{
			Reason: "NoMachineSets", Whose: contract.WhoseUser, Message: "the cluster has no machine set for workers, so nothing was changed",
			Next: "create one (oc get machinesets -n " + machineAPI + "), or request a new cluster",
		}
	}
	slices.SortFunc(sets, func(x, y machineSet) int { return cmp.Compare(x.Name, y.Name) })
	return sets, nil
}

// spreadWorkers distributes workers over the sets as the installer does: evenly, with the remainder to the first by name.
func spreadWorkers(total int, sets []machineSet) map[string]int {
	wanted := map[string]int{}
	for i, set := range sets {
		wanted[set.Name] = total / len(sets)
		if i < total%len(sets) {
			wanted[set.Name]++
		}
	}
	return wanted
}

// countReady counts the ready workers.
func countReady(sets []machineSet) (n int) {
	for _, set := range sets {
		n += set.Ready
	}
	return n
}

// areSettled reports that every set has the requested machines, and none is being added or removed.
func areSettled(sets []machineSet) bool {
	return !slices.ContainsFunc(sets, func(s machineSet) bool { return s.There != s.Wanted || s.Ready != s.Wanted })
}

func machineSetsText(sets []machineSet) string {
	var all []string
	for _, s := range sets {
		all = append(all, fmt.Sprintf("%s: %d wanted, %d created, %d ready", s.Name, s.Wanted, s.There, s.Ready))
	}
	return strings.Join(all, "; ")
}

// listComplaints returns the cluster's messages about failed machines and nodes that are not ready. They only explain, so there are none
// if the cluster does not answer.
func (a *attempt) listComplaints(ctx context.Context) (lines []string) {
	var machines struct {
		Items []struct {
			Metadata struct{ Name string }
			Status   struct{ Phase, ErrorReason, ErrorMessage string }
		}
	}
	raw, err := a.askCluster(ctx, "get", "machines.machine.openshift.io", "-n", machineAPI, "-o", "json")
	if err == nil && json.Unmarshal(raw, &machines) == nil {
		for _, m := range machines.Items {
			if m.Status.ErrorMessage != "" {
				lines = append(lines, fmt.Sprintf("machine %s: %s %s", m.Metadata.Name, m.Status.ErrorReason, m.Status.ErrorMessage))
			}
		}
	}
	nodes, err := a.listNodes(ctx)
	if err != nil {
		return lines
	}
	for _, n := range nodes {
		if n.notReady != "" {
			lines = append(lines, fmt.Sprintf("node %s is not ready: %s", n.name, n.notReady))
		}
	}
	return lines
}

// node is one machine in the cluster's view.
type node struct {
	name     string
	control  bool      // part of the control plane
	tainted  bool      // accepts no workload
	notReady string    // why it is not ready; empty: it is ready
	provider string    // its machine, as the cloud names it: aws:///us-east-1a/i-0abc
	reported time.Time // when it last reported whether it is ready
}

func (a *attempt) listNodes(ctx context.Context) ([]node, error) {
	raw, err := a.askCluster(ctx, "get", "nodes", "-o", "json")
	if err != nil {
		return nil, err
	}
	var list struct {
		Items []struct {
			Metadata struct {
				Name   string
				Labels map[string]string
			}
			Spec struct {
				ProviderID string
				Taints     []struct{ Key, Effect string }
			}
			Status struct {
				Conditions []struct {
					Type, Status, Reason, Message string
					LastHeartbeatTime             time.Time
				}
			}
		}
	}
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, explainUnreadable("nodes")
	}
	var nodes []node
	for _, item := range list.Items {
		n := node{name: item.Metadata.Name, notReady: "it reports no Ready condition", provider: item.Spec.ProviderID}
		_, n.control = item.Metadata.Labels["node-role.kubernetes.io/master"]
		for _, t := range item.Spec.Taints {
			n.tainted = n.tainted || t.Effect == "NoSchedule" && t.Key == "node-role.kubernetes.io/master"
		}
		for _, c := range item.Status.Conditions {
			if c.Type == "Ready" {
				n.reported = c.LastHeartbeatTime
			}
			switch {
			case c.Type == "Ready" && c.Status == "True":
				n.notReady = ""
			case c.Type == "Ready":
				n.notReady = strings.TrimSpace(c.Reason + " " + c.Message)
			}
		}
		nodes = append(nodes, n)
	}
	return nodes, nil
}

// explainUnreadable leaves out the parser's message, which would quote the input.
func explainUnreadable(what string) error {
	return failure{
		Reason: "ClusterUnreachable", Whose: contract.WhoseOurs, Retryable: true, Message: "the output of oc about the cluster's " + what + " is not JSON",
		Next: "ask an administrator of this installation to check oc in the installers' directory",
	}
}
