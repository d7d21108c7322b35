package doctor

import "context"

// kubernetes asks the dispatcher of runner pods what it lacks.
func (d *doctor) kubernetes(ctx context.Context, f *findings) {
	if d.Kubernetes == nil {
		f.skip("access", "runners are local processes")
		return
	}
	problems := d.Kubernetes.Access(ctx)
	for _, p := range problems {
		f.fail("access", p.Next, "%s", p.Found)
	}
	if len(problems) == 0 {
		f.ok("access", "this process may start, watch and delete runner pods, and what they need exists")
	}
}
