//go:build kubernetes

package kubernetes

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ocpctl/ocpctl/internal/dispatch/dispatchtest"
)

// The API server, and an image that its nodes have, whose /usr/bin/ocpctl-runner is the program probe. Pods must reach this machine's
// loopback addresses.
const (
	kubeconfigVariable = "OCPCTL_TEST_KUBECONFIG"
	imageVariable      = "OCPCTL_TEST_RUNNER_IMAGE"
)

func TestJobsAreADispatcher(t *testing.T) {
	kubeconfig, image := os.Getenv(kubeconfigVariable), os.Getenv(imageVariable)
	require.NotEmpty(t, kubeconfig, "set %s to the kubeconfig of an administrator", kubeconfigVariable)
	require.NotEmpty(t, image, "set %s to an image with the program probe", imageVariable)
	to, err := Connect(kubeconfig)
	require.NoError(t, err)
	namespace := fmt.Sprintf("runners-%d", time.Now().UnixNano())
	admin, err := newAPI(to, namespace, 30*time.Second)
	require.NoError(t, err)
	require.NoError(t, admin.core.Post().Resource("namespaces").Body(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name: namespace, Labels: map[string]string{"pod-security.kubernetes.io/enforce": "restricted"},
	}}).Do(t.Context()).Error())
	t.Cleanup(func() {
		_ = admin.core.Delete().Resource("namespaces").Name(namespace).Do(context.Background()).Error()
	})
	require.NoError(t, admin.core.Post().Namespace(namespace).Resource("serviceaccounts").
		Body(&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "runner"}}).Do(t.Context()).Error())

	dispatchtest.Run(t, dispatchtest.Config{
		New: func(t *testing.T, statusURL string) dispatchtest.Dispatcher {
			d, err := New(to, Config{
				Settings: Settings{
					Namespace: namespace, Image: image, ServiceAccounts: ServiceAccounts{Create: "runner", Destroy: "runner"},
					Resources: map[string]Resources{"default": {Requests: map[string]string{"cpu": "10m", "memory": "16Mi"}, Limits: map[string]string{"memory": "256Mi"}}},
				},
				Installation: "test", StatusURL: statusURL,
			})
			require.NoError(t, err)
			return d
		},
		Patience: 2 * time.Minute, Mode: 0o440,
	})
}
