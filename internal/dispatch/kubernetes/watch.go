package kubernetes

import (
	"context"
	"fmt"
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

// resync is how often everything that is not finished is reported again, in case a change was lost.
const resync = 10 * time.Minute

// Watch calls changed with the cluster of every runner whose Job or pod changed in a way that can be seen in an observation, until ctx
// ends. It is called one at a time, and may report a cluster more often than needed. Every replica may watch. Watching makes decisions
// come sooner; none depends on it.
func (d *Dispatcher) Watch(ctx context.Context, changed func(cluster string)) {
	var one sync.Mutex
	notify := func(cluster string) {
		one.Lock()
		defer one.Unlock()
		changed(cluster)
	}
	var both sync.WaitGroup
	for _, w := range []struct {
		client   *rest.RESTClient
		resource string
		object   runtime.Object
		list     func() runtime.Object
	}{
		{d.api.jobs, "jobs", &batchv1.Job{}, func() runtime.Object { return &batchv1.JobList{} }},
		{d.api.core, "pods", &corev1.Pod{}, func() runtime.Object { return &corev1.PodList{} }},
	} {
		reflector := cache.NewReflectorWithOptions(d.listWatch(w.client, w.resource, w.list), w.object,
			&seen{notify: notify, last: map[types.UID]string{}}, cache.ReflectorOptions{Name: "runners: " + w.resource, ResyncPeriod: resync})
		both.Go(func() { reflector.RunWithContext(ctx) })
	}
	both.Wait()
}

// listWatch lists and watches what is ours. A version that has expired is the reflector's matter: it lists again.
func (d *Dispatcher) listWatch(client *rest.RESTClient, resource string, list func() runtime.Object) *cache.ListWatch {
	request := func(options metav1.ListOptions) *rest.Request {
		options.LabelSelector = d.installationSelector()
		return client.Get().Namespace(d.cfg.Namespace).Resource(resource).VersionedParams(&options, d.api.params)
	}
	return &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			into := list()
			ctx, cancel := context.WithTimeout(ctx, d.cfg.Timeout)
			defer cancel()
			return into, request(options).Do(ctx).Into(into)
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			options.Watch = true
			return request(options).Watch(ctx)
		},
	}
}

// seen compares what the reflector hears with what it heard before, and keeps no objects. The reflector calls it from one goroutine.
type seen struct {
	notify func(cluster string)
	last   map[types.UID]string // by object: what an observation would show of it
	open   map[types.UID]string // by object that has not ended: its cluster
}

// Add implements cache.ReflectorStore.
func (s *seen) Add(obj any) error {
	meta, shows, ended, err := digestObject(obj)
	if err != nil {
		return err
	}
	cluster := meta.GetLabels()[LabelCluster]
	if s.open == nil {
		s.open = map[types.UID]string{}
	}
	if delete(s.open, meta.GetUID()); !ended {
		s.open[meta.GetUID()] = cluster
	}
	if s.last[meta.GetUID()] != shows {
		s.last[meta.GetUID()] = shows
		s.notify(cluster)
	}
	return nil
}

// Update implements cache.ReflectorStore.
func (s *seen) Update(obj any) error { return s.Add(obj) }

// Delete implements cache.ReflectorStore.
func (s *seen) Delete(obj any) error {
	meta, _, _, err := digestObject(obj)
	if err != nil {
		return err
	}
	delete(s.last, meta.GetUID())
	delete(s.open, meta.GetUID())
	s.notify(meta.GetLabels()[LabelCluster])
	return nil
}

// Replace implements cache.ReflectorStore: after a gap, what is gone was deleted.
func (s *seen) Replace(all []any, _ string) error {
	here := map[types.UID]bool{}
	for _, obj := range all {
		meta, _, _, err := digestObject(obj)
		if err != nil {
			return err
		}
		here[meta.GetUID()] = true
		if err := s.Add(obj); err != nil {
			return err
		}
	}
	for uid := range s.last {
		if !here[uid] {
			cluster, was := s.open[uid]
			delete(s.last, uid)
			if delete(s.open, uid); was {
				s.notify(cluster)
			}
		}
	}
	return nil
}

// Resync implements cache.ReflectorStore.
func (s *seen) Resync() error {
	told := map[string]bool{}
	for _, cluster := range s.open {
		if !told[cluster] {
			told[cluster] = true
			s.notify(cluster)
		}
	}
	return nil
}

// digestObject reduces an object to what an observation depends on.
func digestObject(obj any) (meta metav1.Object, shows string, ended bool, err error) {
	switch o := obj.(type) {
	case *batchv1.Job:
		end := completionOf(o)
		return o, fmt.Sprint(end != nil, isSuspended(o), findCondition(o, batchv1.JobSuspended) != nil, o.DeletionTimestamp != nil), end != nil, nil
	case *corev1.Pod:
		shows := fmt.Sprint(o.Status.Phase, o.Status.Reason, o.DeletionTimestamp != nil, o.Spec.NodeName)
		for _, c := range o.Status.Conditions {
			if c.Type == corev1.PodScheduled || c.Type == corev1.DisruptionTarget {
				shows += fmt.Sprint(c.Type, c.Status, c.Reason)
			}
		}
		for _, c := range append(o.Status.InitContainerStatuses, o.Status.ContainerStatuses...) {
			if w := c.State.Waiting; w != nil {
				shows += c.Name + w.Reason
			}
			if t := terminationOf(o, c); t != nil {
				shows += fmt.Sprint(c.Name, t.Reason, t.ExitCode)
			}
		}
		return o, shows, !isLiving(o), nil
	}
	return nil, "", false, fmt.Errorf("watch runners: unexpected %T", obj)
}
