package installer

// The classes of what stays behind, for Fault.Leak. See Leaks.
const (
	LeakIdentity = "ccoctl"
)

// Leaks are the classes of Fault.Leak with the command whose fault it is and what it does.
func Leaks() map[string]string {
	return map[string]string{
		LeakIdentity: "ccoctl-delete: it says an error, deletes nothing and exits 0",
	}
}
