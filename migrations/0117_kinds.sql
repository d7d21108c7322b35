-- +goose Up

-- The kind of a cluster; empty: the installer's. Hubs are accounts of the platform kubernetes.
ALTER TABLE clusters ADD COLUMN provisioner text NOT NULL DEFAULT '',
    DROP CONSTRAINT clusters_platform_check,
    ADD CONSTRAINT clusters_platform_check CHECK (platform IN ('aws', 'ibmcloud', 'kubernetes')) NOT VALID;
ALTER TABLE clusters VALIDATE CONSTRAINT clusters_platform_check;

-- +goose Down
ALTER TABLE clusters DROP CONSTRAINT clusters_platform_check,
    ADD CONSTRAINT clusters_platform_check CHECK (platform IN ('aws', 'ibmcloud')) NOT VALID,
    DROP COLUMN provisioner;
