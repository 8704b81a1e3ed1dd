-- project_id isolates projects: every statement that serves a project's request filters by
-- project_id, or by row ids that such a statement returned. Except for memories_by_expiry, the
-- indexes that these statements use start with project_id. Times are milliseconds since 1970.

CREATE TABLE projects (
  project_id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE
) STRICT;

-- user_id is set for a key that is bound to one user.
CREATE TABLE api_keys (
  id TEXT PRIMARY KEY,
  project_id INTEGER NOT NULL REFERENCES projects (project_id),
  name TEXT NOT NULL,
  hash TEXT NOT NULL UNIQUE,
  prefix TEXT NOT NULL,
  last_four TEXT NOT NULL,
  user_id TEXT,
  read_only INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  expires_at INTEGER,
  last_used_at INTEGER,
  revoked_at INTEGER
) STRICT;

-- Each user with memories has a row. last_change counts the transactions that changed the results
-- of the user's searches. It starts at a random number, so that a search index of an erased user is
-- not used for a new user with the same id.
CREATE TABLE users (
  project_id INTEGER NOT NULL,
  user_id TEXT NOT NULL,
  memories INTEGER NOT NULL,
  last_change INTEGER NOT NULL,
  PRIMARY KEY (project_id, user_id)
) STRICT, WITHOUT ROWID;

-- A row changes only when the memory changes, because SQLite rewrites the whole row, including the
-- text. The processing state is in tasks. last_change is the user's change number at the last
-- change of the row.
CREATE TABLE memories (
  row_id INTEGER PRIMARY KEY,
  project_id INTEGER NOT NULL,
  id TEXT NOT NULL,
  user_id TEXT NOT NULL,
  type TEXT NOT NULL,
  metadata TEXT NOT NULL,
  source TEXT,
  external_id TEXT,
  version INTEGER NOT NULL,
  last_change INTEGER NOT NULL,
  occurred_at INTEGER,
  expires_at INTEGER,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  content TEXT NOT NULL
) STRICT;

CREATE UNIQUE INDEX memories_by_id ON memories (project_id, id);

CREATE INDEX memories_by_user ON memories (project_id, user_id, created_at, id);

-- Finds the changes that a search index in memory does not contain yet.
CREATE INDEX memories_by_change ON memories (project_id, user_id, last_change);

-- Each item from another system is stored as at most one memory. '' stands for a missing source,
-- because an empty source is not valid.
CREATE UNIQUE INDEX memories_by_origin
  ON memories (project_id, user_id, ifnull(source, ''), external_id)
  WHERE external_id IS NOT NULL;

CREATE INDEX memories_by_expiry ON memories (expires_at) WHERE expires_at IS NOT NULL;

-- The durable queue.
--   waiting -> running -> complete | failed | waiting (to be retried)
-- A task in any state returns to waiting when its record is ingested again. An ingested memory has
-- one task of kind 'index', which is kept when the work is done, because the memory's status is
-- derived from it. last_change is then the user's change number at completion. lease_token is
-- incremented by every claim and every change of the text, so that late results are rejected.
-- run_at is null when no work is left.
CREATE TABLE tasks (
  task_id INTEGER PRIMARY KEY,
  project_id INTEGER NOT NULL,
  kind TEXT NOT NULL,
  payload TEXT NOT NULL DEFAULT '{}',
  memory_row_id INTEGER,
  user_id TEXT,
  state TEXT NOT NULL CHECK (state IN ('waiting', 'running', 'complete', 'failed')),
  accepted_at INTEGER NOT NULL,
  run_at INTEGER,
  updated_at INTEGER NOT NULL,
  attempts INTEGER NOT NULL DEFAULT 0,
  -- Starts at a random number, because SQLite may reuse the id of a deleted task, whose last lease
  -- must not match.
  lease_token INTEGER NOT NULL DEFAULT (abs(random() % 1000000000000)),
  lease_owner TEXT,
  leased_until INTEGER,
  chunks_complete INTEGER NOT NULL DEFAULT 0,
  chunks_total INTEGER NOT NULL DEFAULT 0,
  error_message TEXT,
  last_change INTEGER
) STRICT;

CREATE UNIQUE INDEX tasks_by_memory ON tasks (project_id, memory_row_id, kind)
  WHERE memory_row_id IS NOT NULL;

-- The waiting and running tasks of all projects, by due time. The index does not contain the state,
-- so that a claim does not change the index.
CREATE INDEX tasks_pending ON tasks (run_at, project_id, accepted_at) WHERE run_at IS NOT NULL;

CREATE INDEX tasks_by_change ON tasks (project_id, user_id, last_change)
  WHERE last_change IS NOT NULL;

-- The first response to each idempotency key. scope is the user that the API key is bound to, or
-- ''. memory_id is set if the body contains data of a memory, which is removed when the memory is
-- deleted.
-- stored_uptime is the service's uptime (see maintenance) when the row was written.
CREATE TABLE idempotency_keys (
  row_id INTEGER PRIMARY KEY,
  project_id INTEGER NOT NULL,
  scope TEXT NOT NULL,
  key TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  status INTEGER NOT NULL,
  body TEXT NOT NULL,
  memory_id TEXT,
  version INTEGER,
  stored_uptime INTEGER NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;

CREATE UNIQUE INDEX idempotency_keys_by_key ON idempotency_keys (project_id, scope, key);

CREATE INDEX idempotency_keys_by_memory ON idempotency_keys (project_id, memory_id)
  WHERE memory_id IS NOT NULL;

-- Numbers that persist across restarts. 'uptime' is how long the service has run on this database,
-- in milliseconds, measured by a monotonic clock. 'deleted' is set if memories were deleted since
-- the file was last rebuilt. 'scrub' is the number of erasures since then. 'database_id' and
-- 'copied_from' are described in storage/copy.
CREATE TABLE maintenance (
  name TEXT PRIMARY KEY,
  value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
