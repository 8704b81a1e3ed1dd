-- The PostgreSQL schema has the same tables and columns. project_id isolates projects: every
-- statement that serves a project's request names it. Times are milliseconds since 1970.

CREATE TABLE projects (
  project_id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE
) STRICT;

-- user_id is set for a key that is bound to one user. A key with metrics_only can only read
-- /metrics.
CREATE TABLE api_keys (
  id TEXT PRIMARY KEY,
  project_id INTEGER NOT NULL REFERENCES projects (project_id),
  name TEXT NOT NULL,
  hash TEXT NOT NULL UNIQUE,
  prefix TEXT NOT NULL,
  last_four TEXT NOT NULL,
  user_id TEXT,
  read_only INTEGER NOT NULL DEFAULT 0,
  metrics_only INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  expires_at INTEGER,
  last_used_at INTEGER,
  revoked_at INTEGER
) STRICT;

-- Each user with memories has a row. last_change counts the changes of memories and tasks that the
-- user's searches depend on. It starts at a random number, so that an index of an erased user is not
-- used for a new user with the same id. bytes is the UTF-8 length of all content and metadata. All
-- changes up to embedded_change have vectors of the present model. That column has no index,
-- because a save would have to update it: the model thread learns of new memories by a message, and
-- reads all rows only now and then. snapshot_change is the last change in the user's snapshot or, if
-- text has been removed since, the last such change. At first, it is a negative random number.
CREATE TABLE users (
  project_id INTEGER NOT NULL,
  user_id TEXT NOT NULL,
  memories INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  last_change INTEGER NOT NULL,
  embedded_change INTEGER NOT NULL DEFAULT -1,
  snapshot_change INTEGER NOT NULL DEFAULT -1,
  PRIMARY KEY (project_id, user_id)
) STRICT, WITHOUT ROWID;

-- A row changes only when the memory changes, because SQLite rewrites the whole row, including the
-- text; the processing state is in tasks. first_change and last_change are the user's change numbers
-- at the first and the last write of the row. external_key is source and external id, or their hash,
-- which can be too long for an index. bytes is the UTF-8 length of content and metadata.
CREATE TABLE memories (
  project_id INTEGER NOT NULL,
  user_id TEXT NOT NULL,
  id TEXT NOT NULL,
  type TEXT NOT NULL,
  metadata TEXT NOT NULL,
  source TEXT,
  external_id TEXT,
  external_key TEXT,
  version INTEGER NOT NULL,
  first_change INTEGER NOT NULL,
  last_change INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
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

-- Each item from another system is stored as at most one memory.
CREATE UNIQUE INDEX memories_by_external_key ON memories (project_id, user_id, external_key)
  WHERE external_key IS NOT NULL;

CREATE INDEX memories_by_expiry ON memories (expires_at) WHERE expires_at IS NOT NULL;

-- The durable queue.
--   waiting -> running -> complete | failed | waiting (to be retried)
-- A task in any state returns to waiting when its record is ingested again. An ingested memory has
-- one task of kind 'index', which is kept when the work is done, because the memory's status is
-- derived from it. last_change is then the user's change number at completion. lease_token is
-- incremented by every claim and every change of the text, so that late results are rejected. It
-- starts at a random number. run_at is null when no work is left. ordinal is the position of the
-- record among the records that were accepted together.
CREATE TABLE tasks (
  project_id INTEGER NOT NULL,
  user_id TEXT NOT NULL,
  memory_id TEXT NOT NULL,
  kind TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('waiting', 'running', 'complete', 'failed')),
  accepted_at INTEGER NOT NULL,
  ordinal INTEGER NOT NULL,
  run_at INTEGER,
  updated_at INTEGER NOT NULL,
  attempts INTEGER NOT NULL DEFAULT 0,
  lease_token INTEGER NOT NULL,
  lease_owner TEXT,
  leased_until INTEGER,
  chunks_complete INTEGER NOT NULL DEFAULT 0,
  chunks_total INTEGER NOT NULL DEFAULT 0,
  error_message TEXT,
  last_change INTEGER
) STRICT;

CREATE UNIQUE INDEX tasks_by_memory ON tasks (project_id, user_id, memory_id, kind);

-- The waiting and running tasks of all projects, by due time. The index does not contain the state,
-- so that a claim does not change the index.
CREATE INDEX tasks_pending ON tasks (run_at, ordinal, project_id, accepted_at)
  WHERE run_at IS NOT NULL;

-- Finds a project's failed tasks. The conditions are true for failed tasks alone. They do not use
-- the state, so that a claim does not change a column of this index.
CREATE INDEX tasks_failed ON tasks (project_id)
  WHERE run_at IS NULL AND error_message IS NOT NULL;

CREATE INDEX tasks_by_change ON tasks (project_id, user_id, last_change)
  WHERE last_change IS NOT NULL;

-- The models that made vectors. mean and deviation describe the cosines of unrelated texts. probe is
-- the vector of a fixed sentence, which tells whether a model of the same name is still the same.
CREATE TABLE models (
  model_id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  digest TEXT NOT NULL,
  dims INTEGER NOT NULL,
  mean REAL NOT NULL,
  deviation REAL NOT NULL,
  probe TEXT NOT NULL,
  is_present INTEGER NOT NULL,
  UNIQUE (name, digest)
) STRICT;

-- The vectors of a memory's first chunks: for each, a float32 scale and an int8 for each dimension.
-- change is the memory's last_change when they were made; after a later change of the memory, the
-- vectors are not used. text_hash identifies the embedded text.
CREATE TABLE vectors (
  project_id INTEGER NOT NULL,
  user_id TEXT NOT NULL,
  memory_id TEXT NOT NULL,
  model_id INTEGER NOT NULL REFERENCES models (model_id),
  change INTEGER NOT NULL,
  text_hash TEXT NOT NULL,
  data BLOB NOT NULL
) STRICT;

CREATE UNIQUE INDEX vectors_by_memory ON vectors (project_id, user_id, memory_id);

-- The search indexes of users with many memories, which are complete up to users.snapshot_change: a
-- checksum and a compressed index. operations/snapshots.ts explains them.
CREATE TABLE snapshots (
  project_id INTEGER NOT NULL,
  user_id TEXT NOT NULL,
  data BLOB NOT NULL
) STRICT;

CREATE UNIQUE INDEX snapshots_by_user ON snapshots (project_id, user_id);

-- The first response to each idempotency key. scope is the user that the API key is bound to, or
-- ''. memory_id is set if the body contains data of a memory, which is removed when the memory is
-- deleted. stored_uptime is the service's uptime (see maintenance) when the row was written.
CREATE TABLE idempotency_keys (
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

INSERT INTO maintenance (name, value) VALUES ('uptime', 0);
