package aws

import "net/http"

const cloudFrontNamespace = "http://cloudfront.amazonaws.com/doc/2020-05-31/"

// The lists that `ccoctl aws delete` always reads. Nothing here makes a distribution.
var (
	cloudFrontRoutes = []route{
		{"GET", "2020-05-31/origin-access-identity/cloudfront", "ListCloudFrontOriginAccessIdentities"}, {"GET", "2020-05-31/distribution", "ListDistributions"},
	}
	cloudFrontCalls = map[string]handler{"ListCloudFrontOriginAccessIdentities": listNothing, "ListDistributions": listNothing}
	cloudFrontLists = map[string]string{"ListCloudFrontOriginAccessIdentities": "CloudFrontOriginAccessIdentityList", "ListDistributions": "DistributionList"}
)

// cloudFrontProtocol names a response by what it lists, not by its call.
func cloudFrontProtocol() protocol {
	p := restProtocol(cloudFrontNamespace, cloudFrontRoutes, cloudFrontCalls)
	p.answer = func(w http.ResponseWriter, c *call, nodes []node, id string) {
		w.Header().Set("X-Amzn-Requestid", id)
		send(w, http.StatusOK, "text/xml", document(group(cloudFrontLists[c.action], nodes...), cloudFrontNamespace))
	}
	return p
}

func listNothing(*call) ([]node, error) {
	return []node{el("Marker", ""), el("MaxItems", 100), el("IsTruncated", false), el("Quantity", 0)}, nil
}
