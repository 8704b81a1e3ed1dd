-- The same tables and columns as in the SQLite schema, which explains them, and three tables that
-- only a shared database needs. COLLATE "C" sorts texts by their bytes, as SQLite does. Every table
-- with a user's rows has user_id in its primary key, so that the rows can be distributed by it
-- (citus.ts). Rows that change often leave room on their pages for the new version of a row. Where
-- tables are joined by a memory, the key begins with the memory: of a key that begins with the user,
-- the planner would read all rows of the user.

CREATE TABLE projects (
  project_id bigint PRIMARY KEY,
  name text COLLATE "C" NOT NULL UNIQUE
);

CREATE TABLE api_keys (
  id text COLLATE "C" PRIMARY KEY,
  project_id bigint NOT NULL REFERENCES projects (project_id),
  name text NOT NULL,
  hash text COLLATE "C" NOT NULL UNIQUE,
  prefix text NOT NULL,
  last_four text NOT NULL,
  user_id text,
  read_only smallint NOT NULL DEFAULT 0,
  metrics_only smallint NOT NULL DEFAULT 0,
  created_at bigint NOT NULL,
  expires_at bigint,
  last_used_at bigint,
  revoked_at bigint
);

-- Every write that changes a user's memories updates the user's row first, which locks it. Change
-- numbers therefore follow the order of commits.
CREATE TABLE users (
  project_id bigint NOT NULL,
  user_id text COLLATE "C" NOT NULL,
  memories bigint NOT NULL,
  bytes bigint NOT NULL,
  last_change bigint NOT NULL,
  embedded_change bigint NOT NULL DEFAULT -1,
  snapshot_change bigint NOT NULL DEFAULT -1,
  PRIMARY KEY (project_id, user_id)
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);

CREATE TABLE memories (
  project_id bigint NOT NULL,
  user_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  type text COLLATE "C" NOT NULL,
  metadata text COLLATE "C" NOT NULL,
  source text COLLATE "C",
  external_id text COLLATE "C",
  external_key text COLLATE "C",
  version bigint NOT NULL,
  first_change bigint NOT NULL,
  last_change bigint NOT NULL,
  bytes bigint NOT NULL,
  occurred_at bigint,
  expires_at bigint,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  content text COLLATE "C" NOT NULL
);

CREATE INDEX memories_by_user ON memories (project_id, user_id, created_at, id);

CREATE INDEX memories_by_change ON memories (project_id, user_id, last_change);

CREATE UNIQUE INDEX memories_by_external_key ON memories (project_id, user_id, external_key)
  WHERE external_key IS NOT NULL;

CREATE INDEX memories_by_expiry ON memories (expires_at) WHERE expires_at IS NOT NULL;

-- Created last: while the planner knows nothing of the rows, it prefers the newest index.
ALTER TABLE memories ADD PRIMARY KEY (project_id, id);

-- leased_until is a time of the database's clock. A claim changes no column of an index.
CREATE TABLE tasks (
  project_id bigint NOT NULL,
  user_id text COLLATE "C" NOT NULL,
  memory_id text COLLATE "C" NOT NULL,
  kind text COLLATE "C" NOT NULL,
  state text NOT NULL CHECK (state IN ('waiting', 'running', 'complete', 'failed')),
  accepted_at bigint NOT NULL,
  ordinal bigint NOT NULL,
  run_at bigint,
  updated_at bigint NOT NULL,
  attempts bigint NOT NULL DEFAULT 0,
  lease_token bigint NOT NULL,
  lease_owner text COLLATE "C",
  leased_until bigint,
  chunks_complete bigint NOT NULL DEFAULT 0,
  chunks_total bigint NOT NULL DEFAULT 0,
  error_message text,
  last_change bigint,
  PRIMARY KEY (memory_id, project_id, user_id, kind)
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02);

CREATE INDEX tasks_pending ON tasks (run_at, ordinal, project_id, accepted_at)
  WHERE run_at IS NOT NULL;

CREATE INDEX tasks_failed ON tasks (project_id)
  WHERE run_at IS NULL AND error_message IS NOT NULL;

CREATE INDEX tasks_by_change ON tasks (project_id, user_id, last_change)
  WHERE last_change IS NOT NULL;

CREATE TABLE models (
  model_id bigint PRIMARY KEY,
  name text NOT NULL,
  digest text NOT NULL,
  dims bigint NOT NULL,
  mean float8 NOT NULL,
  deviation float8 NOT NULL,
  probe text NOT NULL,
  is_present smallint NOT NULL,
  UNIQUE (name, digest)
);

CREATE TABLE vectors (
  project_id bigint NOT NULL,
  user_id text COLLATE "C" NOT NULL,
  memory_id text COLLATE "C" NOT NULL,
  model_id bigint NOT NULL,
  change bigint NOT NULL,
  text_hash text NOT NULL,
  data bytea NOT NULL,
  PRIMARY KEY (memory_id, project_id, user_id)
);

ALTER TABLE vectors ALTER COLUMN data SET STORAGE EXTERNAL;

CREATE TABLE snapshots (
  project_id bigint NOT NULL,
  user_id text COLLATE "C" NOT NULL,
  data bytea NOT NULL,
  PRIMARY KEY (project_id, user_id)
);

ALTER TABLE snapshots ALTER COLUMN data SET STORAGE EXTERNAL;

CREATE TABLE idempotency_keys (
  project_id bigint NOT NULL,
  scope text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL,
  fingerprint text NOT NULL,
  status bigint NOT NULL,
  body text NOT NULL,
  memory_id text COLLATE "C",
  version bigint,
  stored_uptime bigint NOT NULL,
  created_at bigint NOT NULL,
  PRIMARY KEY (project_id, scope, key)
) WITH (autovacuum_vacuum_scale_factor = 0.02);

CREATE INDEX idempotency_keys_by_memory ON idempotency_keys (project_id, memory_id)
  WHERE memory_id IS NOT NULL;

CREATE INDEX idempotency_keys_by_age ON idempotency_keys (stored_uptime, created_at);

-- 'probe' is written to test whether writes succeed.
CREATE TABLE maintenance (
  name text COLLATE "C" PRIMARY KEY,
  value bigint NOT NULL
);

INSERT INTO maintenance (name, value) VALUES ('uptime', 0), ('probe', 0);

-- A function, because Citus evaluates functions, but no subqueries, for an INSERT.
CREATE FUNCTION service_uptime() RETURNS bigint LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN (SELECT value FROM maintenance WHERE name = 'uptime');
END $$;

-- What only one server does at a time, such as the cleanup, and until when, by the database's clock.
CREATE TABLE turns (
  name text COLLATE "C" PRIMARY KEY,
  holder text NOT NULL,
  held_until bigint NOT NULL
);

-- The number of requests that servers have reserved from each project's rate limit in the window
-- that ends at ends_at. The table is unlogged, so that no request waits for the disk or a standby.
-- After a crash of the database, a new window begins.
CREATE UNLOGGED TABLE quotas (
  project_id bigint PRIMARY KEY,
  used bigint NOT NULL,
  ends_at timestamptz NOT NULL
) WITH (fillfactor = 50);
