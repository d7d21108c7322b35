package price

// PlatformText returns a cloud's name as people write it. Programs and files use the platform's own word, e.g. "aws".
func PlatformText(platform string) string {
	switch platform {
	case "aws":
		return "AWS"
	case "ibmcloud":
		return "IBM Cloud"
	case "kubernetes":
		return "Kubernetes"
	}
	return platform
}
