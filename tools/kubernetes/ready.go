package main

import (
	"context"
	"fmt"
	"time"

	"k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/ocpctl/ocpctl/tools/kubernetes/credentials"
)

// askEvery is how often it is asked whether something is ready.
const askEvery = 50 * time.Millisecond

// until asks until the answer is nil, a component has ended or the time is over.
func (c *cluster) until(ctx context.Context, ask func(context.Context) error) error {
	tick := time.NewTicker(askEvery)
	defer tick.Stop()
	for {
		err := ask(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return err
		case ended := <-c.ended:
			return ended
		case <-tick.C:
		}
	}
}

func (c *cluster) client() (*kubernetes.Clientset, error) {
	cfg, err := clientcmd.BuildConfigFromFlags("", c.creds.File(credentials.AdminKubeconfig))
	if err != nil {
		return nil, err
	}
	return kubernetes.NewForConfig(cfg)
}

func (c *cluster) serves(ctx context.Context) error {
	client, err := c.client()
	if err != nil {
		return err
	}
	return client.Discovery().RESTClient().Get().AbsPath("/readyz").Do(ctx).Error()
}

// usable waits until every node is ready and pods can be created.
func (c *cluster) usable(ctx context.Context) error {
	client, err := c.client()
	if err != nil {
		return err
	}
	return c.until(ctx, func(ctx context.Context) error {
		for n := range c.Nodes {
			found, err := client.CoreV1().Nodes().Get(ctx, nodeName(n), metav1.GetOptions{})
			if err != nil || !schedulable(found) {
				return fmt.Errorf("%s is not ready; its log, nodes/%s/node.log, says why", nodeName(n), nodeName(n))
			}
		}
		_, err := client.CoreV1().ServiceAccounts("default").Get(ctx, "default", metav1.GetOptions{})
		return err
	})
}

func schedulable(n *v1.Node) bool {
	for _, condition := range n.Status.Conditions {
		if condition.Type == v1.NodeReady {
			return condition.Status == v1.ConditionTrue && len(n.Spec.Taints) == 0 && n.Status.NodeInfo.BootID != ""
		}
	}
	return false
}
