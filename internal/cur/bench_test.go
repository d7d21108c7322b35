package cur

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// BenchmarkTenThousandLines reads lines of 500 clusters over a month; ns/op is of 10,000 lines.
func BenchmarkTenThousandLines(b *testing.B) {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	fmt.Fprintln(w, "line_item_usage_start_date,line_item_line_item_type,line_item_unblended_cost,line_item_currency_code,resource_tags")
	for i := range 10_000 {
		fmt.Fprintf(w, "2026-11-%02dT00:00:00.000Z,Usage,0.%04d,USD,\"{\"\"user_cluster_id\"\":\"\"clu_%d\"\",\"\"user_owner\"\":\"\"maya\"\"}\"\n", i%28+1, i, i%500)
	}
	require.NoError(b, w.Close())
	for b.Loop() {
		all := &sum{nanos: map[group]int64{}}
		require.NoError(b, all.addFile("", bytes.NewReader(packed.Bytes())))
		require.Equal(b, 10_000, all.lines)
	}
	b.ReportAllocs()
}
