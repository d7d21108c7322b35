package credentials

// kubeconfig is everything that openshift-install writes into auth/kubeconfig, and nothing else of the format
// (k8s.io/client-go/tools/clientcmd/api/v1). The rest of the format can run a program (exec, auth-provider), read files
// of the user's machine, send requests through a proxy, or accept any certificate.
type kubeconfig struct {
	APIVersion string `yaml:"apiVersion"`
	Kind       string `yaml:"kind"`
	Clusters   []struct {
		Name    string `yaml:"name"`
		Cluster struct {
			Server string `yaml:"server"`
			CA     string `yaml:"certificate-authority-data"`
		} `yaml:"cluster"`
	} `yaml:"clusters"`
	Contexts []struct {
		Name    string `yaml:"name"`
		Context struct {
			Cluster   string `yaml:"cluster"`
			User      string `yaml:"user"`
			Namespace string `yaml:"namespace"`
		} `yaml:"context"`
	} `yaml:"contexts"`
	CurrentContext string   `yaml:"current-context"`
	Preferences    struct{} `yaml:"preferences"`
	Users          []struct {
		Name string `yaml:"name"`
		User struct {
			Certificate string `yaml:"client-certificate-data"`
			Key         string `yaml:"client-key-data"`
			Token       string `yaml:"token"`
		} `yaml:"user"`
	} `yaml:"users"`
}

// plainKubeconfig returns nil if a kubeconfig only says how to reach apiURL and with which certificate or token. The runner
// stored it, and a runner may be hostile. The error says what else is in it, without its values.
func plainKubeconfig(raw []byte, apiURL string) error {
	_, err := parseKubeconfig(raw, apiURL)
	return err
}
