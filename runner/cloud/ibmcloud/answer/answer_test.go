package answer_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/IBM/go-sdk-core/v5/core"
	"github.com/IBM/platform-services-go-sdk/resourcemanagerv2"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/runner/cloud/ibmcloud/answer"
)

func TestACRNIsReadByItsParts(t *testing.T) {
	of, ok := answer.ParseCRN("crn:v1:bluemix:public:is:us-south-1:a/0a1b::instance:0717_1234")
	require.True(t, ok)
	require.Equal(t, answer.CRN{Service: "is", Location: "us-south-1", Kind: "instance", ID: "0717_1234"}, of)
	require.Equal(t, "us-south", of.Region())
	of, ok = answer.ParseCRN("crn:v1:bluemix:public:cloud-object-storage:global:a/0a1b:1f2e::")
	require.True(t, ok)
	require.Equal(t, answer.CRN{Service: "cloud-object-storage", Location: "global", Instance: "1f2e"}, of)
	require.Equal(t, "global", of.Region())
	_, ok = answer.ParseCRN("r006-1234")
	require.False(t, ok)
}

func TestAPageThatNamesItselfAsTheNextIsAnError(t *testing.T) {
	same, calls := "https://iam.cloud.ibm.com/v1/apikeys?pagetoken=a", 0
	err := answer.TokenPages(func(*string) (*string, error) { calls++; return &same, nil })
	require.ErrorContains(t, err, "names itself")
	require.Equal(t, 2, calls)
	require.ErrorContains(t, answer.TokenPages(func(*string) (*string, error) { return new("https://iam.cloud.ibm.com/v1/apikeys"), nil }), "has no token")
}

func TestCountedPagesAreReadUntilEverythingWasListed(t *testing.T) {
	total, pages, listed := int64(5), []int{2, 2, 1}, []int64(nil)
	read := func(page, sofar int64) (int, *int64, error) {
		listed = append(listed, sofar)
		return pages[page-1], &total, nil
	}
	require.NoError(t, answer.CountedPages(read))
	require.Equal(t, []int64{0, 2, 4}, listed)
	pages[2] = 0
	require.ErrorContains(t, answer.CountedPages(read), "only 4 of 5 items", "a page that is missing is no end")
	require.ErrorIs(t, answer.CountedPages(func(int64, int64) (int, *int64, error) { return 0, nil, nil }), answer.ErrNoList)
	refused := errors.New("refused")
	require.ErrorIs(t, answer.CountedPages(func(int64, int64) (int, *int64, error) { return 0, nil, refused }), refused)
}

// pager gives its pages, and panics where there is nil.
type pager struct{ pages [][]string }

func (p *pager) HasNext() bool { return len(p.pages) > 0 }

func (p *pager) GetNextWithContext(context.Context) ([]string, error) {
	page := p.pages[0]
	p.pages = p.pages[1:]
	if len(page) == 1 && page[0] == "broken" {
		panic("no body")
	}
	return page, nil
}

func TestAPageWithoutAListIsAnError(t *testing.T) {
	var got []string
	take := func(page []string) error { got = append(got, page...); return nil }
	require.NoError(t, answer.Pages(t.Context(), &pager{[][]string{{"a"}, {}, {"b"}}}, nil, take))
	require.Equal(t, []string{"a", "b"}, got)
	require.ErrorIs(t, answer.Pages(t.Context(), &pager{[][]string{{"a"}, nil}}, nil, take), answer.ErrNoList)
	require.ErrorIs(t, answer.Pages(t.Context(), &pager{[][]string{{"broken"}}}, nil, take), answer.ErrNoList)
	refused := errors.New("refused")
	require.ErrorIs(t, answer.Pages(t.Context(), &pager{}, refused, take), refused)
	require.ErrorIs(t, answer.Pages(t.Context(), &pager{[][]string{{"a"}}}, nil, func([]string) error { return refused }), refused)
}

func TestTheAccountIsReadFromTheToken(t *testing.T) {
	account, _, err := answer.Caller(&core.BearerTokenAuthenticator{BearerToken: "e30.eyJhY2NvdW50Ijp7ImJzcyI6IjBhMWIifX0.c2ln"})
	require.NoError(t, err)
	require.Equal(t, "0a1b", account)
	for _, token := range []string{"", "opaque", "a.b.c", "e30.e30.c2ln"} {
		_, _, err := answer.Caller(&core.BearerTokenAuthenticator{BearerToken: token})
		require.EqualError(t, err, "the token does not say which account it is for", token)
	}
}

func TestCredentialsThatGetNoTokenAreToldFromOtherRefusals(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, `{"errorCode":"BXNIM0415E","errorMessage":"Provided API key could not be found."}`)
	}))
	t.Cleanup(server.Close)
	auth := &core.IamAuthenticator{ApiKey: "a-key", URL: server.URL}
	_, _, direct := answer.Caller(auth)
	api, err := resourcemanagerv2.NewResourceManagerV2(&resourcemanagerv2.ResourceManagerV2Options{Authenticator: auth, URL: server.URL})
	require.NoError(t, err)
	_, response, throughAService := api.ListResourceGroups(&resourcemanagerv2.ListResourceGroupsOptions{})
	for _, err := range []error{direct, answer.Explain(response, throughAService)} {
		require.True(t, answer.RefusesCredentials(err))
		require.EqualError(t, answer.Explain(nil, err), "status 400: BXNIM0415E Provided API key could not be found.")
	}
	require.False(t, answer.RefusesCredentials(answer.Refusal{Status: http.StatusForbidden}))
	require.False(t, answer.RefusesCredentials(errors.New("no route to host")))
}
