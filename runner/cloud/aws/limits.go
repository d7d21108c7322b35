package aws

import (
	"context"
	"errors"
	"fmt"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/servicequotas"
	"github.com/aws/aws-sdk-go-v2/service/servicequotas/types"
	"github.com/aws/smithy-go"
)

// limitOf asks Service Quotas for the limit in this account and region. A limit that was never raised has no value for the account;
// only then AWS's default applies. After any other refusal the default proves nothing: the account's limit may be far above it.
func (c *Client) limitOf(ctx context.Context, region, service, code string) (int, error) {
	api := c.quotasIn(region)
	own, err := api.GetServiceQuota(ctx, &servicequotas.GetServiceQuotaInput{ServiceCode: &service, QuotaCode: &code})
	if err == nil {
		return limitIn(own.Quota)
	}
	var none *types.NoSuchResourceException
	if !errors.As(err, &none) {
		return 0, fmt.Errorf("the limit could not be looked up: %w", explainDenial(err, "servicequotas:GetServiceQuota"))
	}
	standard, err := api.GetAWSDefaultServiceQuota(ctx, &servicequotas.GetAWSDefaultServiceQuotaInput{ServiceCode: &service, QuotaCode: &code})
	if err != nil {
		return 0, fmt.Errorf("the default limit could not be looked up: %w", explainDenial(err, "servicequotas:GetAWSDefaultServiceQuota"))
	}
	return limitIn(standard.Quota)
}

func limitIn(q *types.ServiceQuota) (int, error) {
	if q == nil || q.Value == nil {
		return 0, errors.New("the response contains no limit")
	}
	return int(awssdk.ToFloat64(q.Value)), nil
}

// explainDenial adds to a refusal which permission is missing; any other error is returned unchanged.
func explainDenial(err error, action string) error {
	var api smithy.APIError
	if errors.As(err, &api) && accessDenied(api.ErrorCode()) {
		return fmt.Errorf("%w; allow the runner %s", err, action)
	}
	return err
}
