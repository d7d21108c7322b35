package config

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestABillIsCheckedIfThereIsOne(t *testing.T) {
	for want, b := range map[string]Bill{
		"":                        {Every: time.Hour},
		"bill.bucket is missing":  {Name: "daily", Every: time.Hour},
		`bill.name is ""`:         {Bucket: "acme-bills", Every: time.Hour},
		`bill.name is "a/b"`:      {Bucket: "acme-bills", Name: "a/b", Every: time.Hour},
		`bill.prefix is "/bills"`: {Bucket: "acme-bills", Prefix: "/bills", Name: "daily", Every: time.Hour},
		"bill.every is 1m":        {Bucket: "acme-bills", Name: "daily", Every: time.Minute},
	} {
		err := errors.Join(b.checkBill()...)
		if want == "" {
			require.NoError(t, err)
			continue
		}
		require.ErrorContains(t, err, want)
	}
	require.Empty(t, Bill{Bucket: "acme-bills", Prefix: "finance/bills", Name: "daily", Every: 6 * time.Hour}.checkBill())
}
