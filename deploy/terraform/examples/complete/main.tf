# The platform in us-east-1, its clusters in an account of their own, and a replica in us-west-2.

terraform {
  required_version = ">= 1.9"

  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = "~> 6.25"
    }
  }
}

provider "aws" {
  region = "us-east-1"
}

provider "aws" {
  alias  = "clusters"
  region = "us-east-1"

  assume_role {
    role_arn = var.clusters_account_role
  }
}

module "ocpctl" {
  source = "../.."

  providers = {
    aws          = aws
    aws.clusters = aws.clusters
  }

  installation    = "example"
  cluster_regions = ["us-east-1", "us-west-2"]
  base_domains    = { "labs.example.com" = "Z0123456789ABCDEFGHIJ" }
  oidc_provider   = var.oidc_provider

  vpc_id                    = var.vpc_id
  private_subnet_ids        = var.private_subnet_ids
  private_route_table_ids   = var.private_route_table_ids
  server_security_group_ids = var.server_security_group_ids

  replica_region = "us-west-2"

  guardrail = {
    exempt_principals = ["arn:aws:iam::*:role/PlatformAdministrator"]
  }

  tags = { team = "platform" }
}
