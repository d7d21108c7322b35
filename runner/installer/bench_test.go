package installer

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ocpctl/ocpctl/internal/secret"
)

const trace = `time="2026-02-27T10:12:13Z" level=debug msg="I0227 10:12:13.402118 204 controller.go:324] \"Reconciling\" controller=\"awsmachine\" namespace=\"openshift-cluster-api-guests\" name=\"shop-abcde-master-0\" reconcileID=\"0a1b2c3d\""`

// BenchmarkTraceLine redacts a line of the installer's own log and looks at it as while an install runs, with a pull secret
// of five registries.
func BenchmarkTraceLine(b *testing.B) {
	var auths []string
	for i := range 5 {
		auths = append(auths, fmt.Sprintf(`"registry%d.example.com":{"auth":%q}`, i, base64.StdEncoding.EncodeToString(fmt.Appendf(nil, "robot:%0600d", i))))
	}
	redactor := NewRedactor()
	redactor.AddPullSecret(secret.New(`{"auths":{` + strings.Join(auths, ",") + `}}`))
	watch := NewWatch(5, time.Minute)
	lines := redactor.Lines(func(line string) { watch.Line(time.Time{}, line) })
	b.SetBytes(int64(len(trace) + 1))
	for b.Loop() {
		_, _ = lines.Write([]byte(trace + "\n"))
	}
}

// BenchmarkExplain looks through the tail of a log in which nothing is recognized.
func BenchmarkExplain(b *testing.B) {
	lines := make([]string, tailBytes/len(trace))
	for i := range lines {
		lines[i] = trace
	}
	for b.Loop() {
		Explain(Exit{Code: 4}, lines...)
	}
}
