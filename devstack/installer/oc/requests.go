package oc

import (
	"time"

	"github.com/ocpctl/ocpctl/devstack/installer/resources"
)

// requestCounts returns the requests of the last 24 hours as the real API server counts them (apiserver.openshift.io/v1): an entry for each hour
// of the day in UTC, with the present one twice. The stand-in counts everything as requests for one resource, on one node, and adds what
// the cluster's own parts send all the time.
func requestCounts(l *resources.Living, now time.Time) object {
	now = now.UTC()
	byHour := make([][]object, 24)
	for hour := range byHour {
		byHour[hour] = append(byHour[hour],
			requestsOf("system:serviceaccount:openshift-monitoring:prometheus-k8s", 120), requestsOf("system:node:ip-10-0-0-1.ec2.internal", 60), requestsOf("system:admin", 1))
	}
	for _, r := range l.Requests() {
		if now.Sub(r.Hour) < 24*time.Hour {
			byHour[r.Hour.Hour()] = append(byHour[r.Hour.Hour()], requestsOf(r.User, r.Count))
		}
	}
	var day []object
	total := 0
	for hour, users := range byHour {
		if hour == (now.Hour()+1)%24 { // the real one empties the entry that it needs next
			day = append(day, object{"requestCount": 0})
			continue
		}
		sum := 0
		for _, user := range users {
			sum += user["requestCount"].(int)
		}
		total += sum
		day = append(day, object{"requestCount": sum, "byNode": []object{{"nodeName": "10.0.0.1", "requestCount": sum, "byUser": users}}})
	}
	return object{
		"apiVersion": "apiserver.openshift.io/v1", "kind": "APIRequestCount", "metadata": object{"name": "namespaces.v1"}, "spec": object{"numberOfUsersToReport": 10},
		"status": object{"requestCount": total, "currentHour": day[now.Hour()], "last24h": day},
	}
}

func requestsOf(user string, count int) object {
	return object{"username": user, "userAgent": "oc/4.20.0 (linux/amd64) kubernetes/stand-in", "requestCount": count, "byVerb": []object{{"verb": "list", "requestCount": count}}}
}
