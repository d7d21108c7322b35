// Command provider has the schema of the AWS provider, and nothing else: it lets tofu validate check types, names and required
// arguments of deploy/terraform where the real provider cannot be had. It never talks to AWS, and plan and apply fail.
package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"os"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6/tf6server"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

//go:embed schema.json
var raw []byte

// block is a block of a resource, as schema.json has it.
type block struct {
	Attributes map[string]struct {
		Type                         json.RawMessage
		Required, Optional, Computed bool
	}
	Blocks         map[string]block
	Many, Required bool
}

func main() {
	err := tf6server.Serve("registry.opentofu.org/hashicorp/aws", func() tfprotov6.ProviderServer { return server{} })
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// server answers the calls of tofu validate, and of tofu test with simulated answers of AWS. Others have no implementation.
type server struct{ tfprotov6.ProviderServer }

func (server) GetMetadata(context.Context, *tfprotov6.GetMetadataRequest) (*tfprotov6.GetMetadataResponse, error) {
	return &tfprotov6.GetMetadataResponse{}, nil
}

func (server) GetProviderSchema(context.Context, *tfprotov6.GetProviderSchemaRequest) (*tfprotov6.GetProviderSchemaResponse, error) {
	var all struct {
		Resources   map[string]block
		DataSources map[string]block `json:"data_sources"`
	}
	if err := json.Unmarshal(raw, &all); err != nil {
		return nil, err
	}
	out := &tfprotov6.GetProviderSchemaResponse{Provider: providerSchema(), ResourceSchemas: map[string]*tfprotov6.Schema{}, DataSourceSchemas: map[string]*tfprotov6.Schema{}}
	for name, b := range all.Resources {
		out.ResourceSchemas[name] = &tfprotov6.Schema{Block: b.schema()}
	}
	for name, b := range all.DataSources {
		out.DataSourceSchemas[name] = &tfprotov6.Schema{Block: b.schema()}
	}
	return out, nil
}

// providerSchema is the part of the provider's own arguments that the example uses.
func providerSchema() *tfprotov6.Schema {
	return &tfprotov6.Schema{Block: &tfprotov6.SchemaBlock{
		Attributes: []*tfprotov6.SchemaAttribute{{Name: "region", Type: tftypes.String, Optional: true}},
		BlockTypes: []*tfprotov6.SchemaNestedBlock{{
			TypeName: "assume_role", Nesting: tfprotov6.SchemaNestedBlockNestingModeList,
			Block: &tfprotov6.SchemaBlock{Attributes: []*tfprotov6.SchemaAttribute{{Name: "role_arn", Type: tftypes.String, Optional: true}}},
		}},
	}}
}

func (b block) schema() *tfprotov6.SchemaBlock {
	out := &tfprotov6.SchemaBlock{}
	for name, a := range b.Attributes {
		kind, err := tftypes.ParseJSONType(a.Type) // the only parser of this notation
		if err != nil {
			panic(fmt.Sprintf("schema.json: %s: %v", name, err)) // the file is part of this program
		}
		out.Attributes = append(out.Attributes, &tfprotov6.SchemaAttribute{Name: name, Type: kind, Required: a.Required, Optional: a.Optional, Computed: a.Computed})
	}
	for name, inner := range b.Blocks {
		nested := &tfprotov6.SchemaNestedBlock{TypeName: name, Block: inner.schema(), Nesting: tfprotov6.SchemaNestedBlockNestingModeList}
		if inner.Required {
			nested.MinItems = 1
		}
		if !inner.Many {
			nested.MaxItems = 1
		}
		out.BlockTypes = append(out.BlockTypes, nested)
	}
	return out
}

func (server) ValidateProviderConfig(_ context.Context, in *tfprotov6.ValidateProviderConfigRequest) (*tfprotov6.ValidateProviderConfigResponse, error) {
	return &tfprotov6.ValidateProviderConfigResponse{PreparedConfig: in.Config}, nil
}

func (server) ValidateResourceConfig(context.Context, *tfprotov6.ValidateResourceConfigRequest) (*tfprotov6.ValidateResourceConfigResponse, error) {
	return &tfprotov6.ValidateResourceConfigResponse{}, nil
}

func (server) ValidateDataResourceConfig(context.Context, *tfprotov6.ValidateDataResourceConfigRequest) (*tfprotov6.ValidateDataResourceConfigResponse, error) {
	return &tfprotov6.ValidateDataResourceConfigResponse{}, nil
}

// UpgradeResourceState returns a state of the simulated provider unchanged: a test with several runs reads it between them.
func (s server) UpgradeResourceState(ctx context.Context, in *tfprotov6.UpgradeResourceStateRequest) (*tfprotov6.UpgradeResourceStateResponse, error) {
	all, err := s.GetProviderSchema(ctx, nil)
	if err != nil {
		return nil, err
	}
	kind := all.ResourceSchemas[in.TypeName].ValueType()
	value, err := in.RawState.Unmarshal(kind)
	if err != nil {
		return nil, err
	}
	state, err := tfprotov6.NewDynamicValue(kind, value)
	return &tfprotov6.UpgradeResourceStateResponse{UpgradedState: &state}, err
}

func (server) StopProvider(context.Context, *tfprotov6.StopProviderRequest) (*tfprotov6.StopProviderResponse, error) {
	return &tfprotov6.StopProviderResponse{}, nil
}
