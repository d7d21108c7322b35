package installer

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
