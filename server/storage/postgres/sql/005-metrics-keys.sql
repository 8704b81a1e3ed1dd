-- A key with metrics_only can only read /metrics.
ALTER TABLE api_keys ADD COLUMN metrics_only bool NOT NULL DEFAULT false;
