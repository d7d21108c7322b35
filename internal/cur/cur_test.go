package cur_test

import (
	"bytes"
	"compress/gzip"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/s3/s3test"
	"github.com/ocpctl/ocpctl/internal/cur"
)

type bucket struct {
	t      *testing.T
	client *s3.Client
	name   string
	export *cur.Export
}

func newBucket(t *testing.T) bucket {
	s3test.Setenv(t)
	cfg, err := config.LoadDefaultConfig(t.Context())
	require.NoError(t, err)
	b := bucket{t: t, client: s3.NewFromConfig(cfg, func(o *s3.Options) { o.UsePathStyle = true }), name: s3test.Bucket(t)}
	b.export, err = cur.New(t.Context(), cur.Config{Bucket: b.name, Prefix: "bills", Name: "daily", Installation: "ocpctl-demo"})
	require.NoError(t, err)
	return b
}

func (b bucket) put(key string, body []byte) {
	b.t.Helper()
	_, err := b.client.PutObject(b.t.Context(), &s3.PutObjectInput{Bucket: &b.name, Key: &key, Body: bytes.NewReader(body)})
	require.NoError(b.t, err)
}

// deliver writes November as AWS does: the data, then the manifest.
func (b bucket) deliver(csv string) cur.Delivery {
	b.t.Helper()
	b.put("bills/daily/data/BILLING_PERIOD=2026-11/daily-00001.csv.gz", packed(b.t, csv))
	b.put("bills/daily/metadata/BILLING_PERIOD=2026-11/daily-Manifest.json", []byte(strings.ReplaceAll(file(b.t, "daily-Manifest.json"), "BUCKET", b.name)))
	found, err := b.export.Deliveries(b.t.Context())
	require.NoError(b.t, err)
	require.Len(b.t, found, 1)
	require.Equal(b.t, time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC), found[0].Period)
	return found[0]
}

func packed(t *testing.T, csv string) []byte {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, err := w.Write([]byte(csv))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return out.Bytes()
}

func file(t *testing.T, name string) string {
	raw, err := os.ReadFile("testdata/" + name)
	require.NoError(t, err)
	return string(raw)
}

func november(day int) time.Time { return time.Date(2026, 11, day, 0, 0, 0, 0, time.UTC) }

func TestAnExportIsSummedByDayAndCluster(t *testing.T) {
	b := newBucket(t)
	sum, err := b.export.Read(t.Context(), b.deliver(file(t, "daily-00001.csv")))
	require.NoError(t, err)
	require.Equal(t, 13, sum.Lines)
	require.Equal(t, []cur.Billed{
		// on demand 4.608, NAT 1.08, disk 0.3200000004, the covered parts 3.312 and 2.856
		{Day: november(24), ClusterID: "clu_SHOP", Nanos: 12_176_000_000},
		{Day: november(25), ClusterID: "", Nanos: 450_000_000},
		{Day: november(25), ClusterID: "clu_FORGOTTEN", Nanos: 120_000_000},
		{Day: november(25), ClusterID: "clu_SHOP", Nanos: 1_000_000_000}, // with the credit
	}, sum.Billed)
	require.Equal(t, "s3://"+b.name+"/bills/daily", b.export.String())
}

func TestTagsAreFoundHoweverTheExportNamesThem(t *testing.T) {
	b := newBucket(t)
	head := "line_item_usage_start_date,line_item_line_item_type,line_item_unblended_cost,line_item_currency_code,"
	values := "2026-11-24T07:00:00Z,Usage,1.5,USD,"
	for _, c := range []struct{ column, value string }{
		{"resource_tags", `"{""user_cluster_id"":""clu_SHOP""}"`},
		{"resource_tags", `"{""user:ClusterId"":""clu_SHOP""}"`},
		{"resource_tags", `"{""ClusterId"":""clu_SHOP"",""InstallationId"":""ocpctl-demo""}"`},
		{"resource_tags", `"{""Cluster-Id"":""theirs"",""user:ClusterId"":""clu_SHOP"",""cluster id"":""theirs"",""user_clusterid"":""theirs""}"`},
		{"resource_tags_user_cluster_id", "clu_SHOP"},
	} {
		sum, err := b.export.Read(t.Context(), b.deliver("\ufeff"+head+c.column+"\n"+values+c.value+"\n"))
		require.NoError(t, err)
		require.Equal(t, []cur.Billed{{Day: november(24), ClusterID: "clu_SHOP", Nanos: 1_500_000_000}}, sum.Billed, c.value)
	}
}

func TestADeliveryThatWasWrittenAgainIsNotRead(t *testing.T) {
	b := newBucket(t)
	first := b.deliver(file(t, "daily-00001.csv"))
	b.put("bills/daily/metadata/README.txt", nil)
	b.put("bills/daily/metadata/BILLING_PERIOD=soon/daily-Manifest.json", nil)
	b.put("bills/daily/metadata/BILLING_PERIOD=2026-11/daily-Manifest.json", []byte(`{"dataFiles": []}`))
	found, err := b.export.Deliveries(t.Context())
	require.NoError(t, err)
	require.Len(t, found, 1)
	require.NotEqual(t, first.ID, found[0].ID)
	_, err = b.export.Read(t.Context(), first)
	require.ErrorIs(t, err, cur.ErrWrittenAgain)
	sum, err := b.export.Read(t.Context(), found[0])
	require.NoError(t, err)
	require.Empty(t, sum.Billed)
}

func TestAnExportThatKeepsItsDeliveriesIsReadToo(t *testing.T) {
	b := newBucket(t)
	folder := "BILLING_PERIOD=2026-11/2026-11-26T10:00:00.000Z-8c5a76cc-57d0-437d-851b-064e27aa8b06/"
	b.put("bills/daily/data/"+folder+"daily-00001.csv.gz", packed(t, file(t, "daily-00001.csv")))
	b.put("bills/daily/metadata/"+folder+"daily-Manifest.json", []byte(`{"dataFiles": ["s3://`+b.name+`/bills/daily/data/`+folder+`daily-00001.csv.gz"]}`))
	found, err := b.export.Deliveries(t.Context())
	require.NoError(t, err)
	require.Len(t, found, 1)
	sum, err := b.export.Read(t.Context(), found[0])
	require.NoError(t, err)
	require.Equal(t, 13, sum.Lines)
}

func TestAnExportThatCannotBeReadSaysWhatToChange(t *testing.T) {
	b := newBucket(t)
	head := "line_item_usage_start_date,line_item_line_item_type,line_item_unblended_cost,line_item_currency_code,resource_tags\n"
	for _, c := range []struct{ csv, want string }{
		{"line_item_usage_start_date,resource_tags\n", "no column line_item_line_item_type, line_item_unblended_cost, line_item_currency_code; select it"},
		{strings.TrimSuffix(head, ",resource_tags\n") + "\n", "no column resource_tags"},
		{"", "the file is empty"},
		{head + "2026-11-24T00:00:00Z,Usage,1.5,EUR,{}\n", `line 1: the currency is "EUR"; only USD`},
		{head + "yesterday,Usage,1.5,USD,{}\n", `line_item_usage_start_date is "yesterday"`},
		{head + "2026-11-24T00:00:00Z,Usage,much,USD,{}\n", `line_item_unblended_cost is "much"`},
		{head + "2026-11-24T00:00:00Z,Usage,1e300,USD,{}\n", "which is no amount"},
		{head + "2026-11-24T00:00:00Z,SavingsPlanCoveredUsage,1,USD,{}\n", "no column savings_plan_savings_plan_effective_cost; select it"},
		{head + "2026-11-24T00:00:00Z,DiscountedUsage,1,USD,{}\n", "no column reservation_effective_cost; select it"},
		{head + "2026-11-24T00:00:00Z,Usage,1,USD,x\n", "resource_tags is not a JSON object"},
		{head + "2026-11-24T00:00:00Z,Usage\n", "wrong number of fields"},
	} {
		_, err := b.export.Read(t.Context(), b.deliver(c.csv))
		require.ErrorContains(t, err, c.want)
	}
	key := "bills/daily/metadata/BILLING_PERIOD=2026-11/daily-Manifest.json"
	for manifest, want := range map[string]string{
		`{"dataFiles": ["s3://` + b.name + `/bills/daily/data/BILLING_PERIOD=2026-11/daily-00001.snappy.parquet"]}`: "with the format gzip CSV",
		`{"dataFiles": ["s3://elsewhere/bills/daily/data/x.csv.gz"]}`:                                               "is not below s3://" + b.name + "/bills/daily/data/",
		`{"dataFiles": ["s3://` + b.name + `/bills/daily/data/gone.csv.gz"]}`:                                       "gone.csv.gz",
		`{`: "unexpected EOF",
	} {
		b.put(key, []byte(manifest))
		found, err := b.export.Deliveries(t.Context())
		require.NoError(t, err)
		_, err = b.export.Read(t.Context(), found[0])
		require.ErrorContains(t, err, want)
	}
}
