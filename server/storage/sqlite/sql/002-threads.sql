-- Every table leads with project_id in its key, and every statement names it: that is the
-- isolation. Times are milliseconds since 1970.

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

-- A user has a row while it has memories. last_change counts the transactions that changed what a
-- search of this user finds. It begins at a random number, so that a user who was erased and came
-- back is not taken for the one before.
CREATE TABLE users (
  project_id INTEGER NOT NULL,
  user_id TEXT NOT NULL,
  memories INTEGER NOT NULL,
  last_change INTEGER NOT NULL,
  PRIMARY KEY (project_id, user_id)
) STRICT, WITHOUT ROWID;

-- A row is written when the content changes, never for the queue's bookkeeping: a row is rewritten
-- whole, and a document's is megabytes. last_change is the user's at the time of the last change.
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

-- What a search index that is held in memory has to read again.
CREATE INDEX memories_by_change ON memories (project_id, user_id, last_change);

-- A thing in another system is one memory. '' stands for no source, which the contract excludes.
CREATE UNIQUE INDEX memories_by_origin
  ON memories (project_id, user_id, ifnull(source, ''), external_id)
  WHERE external_id IS NOT NULL;

CREATE INDEX memories_by_expiry ON memories (expires_at) WHERE expires_at IS NOT NULL;

-- The durable queue.
--   waiting -> running -> complete | failed | waiting (again, later)
-- and from any state to waiting when its record is ingested again. A memory that was ingested has
-- one task of kind 'index', which stays when the work is done, to answer for its status;
-- last_change is then the user's, as in memories. lease_token goes up with every claim and every
-- change of the text, so that a late result of older work is refused. run_at is null once the work
-- has ended.
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
  -- Not from 0: SQLite may give a later task the id of a deleted one, whose last lease must not
  -- match.
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

-- What waits or runs, by its time, since the queue serves all projects. The state is no part of it,
-- so that a claim leaves it as it is.
CREATE INDEX tasks_pending ON tasks (run_at, project_id, accepted_at) WHERE run_at IS NOT NULL;

CREATE INDEX tasks_by_change ON tasks (project_id, user_id, last_change)
  WHERE last_change IS NOT NULL;

-- The first response to each idempotency key. scope is the user that the API key is bound to, or
-- ''. memory_id is set where the body holds that memory's text, which must go when the memory goes.
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

-- Numbers that outlive the process: 'uptime', the milliseconds that the service has run on this
-- database by a clock that is never set; 'deleted', whether anything was deleted since the file was
-- last rebuilt; 'scrub', how often a user was erased since then. See storage/copy for 'database_id'
-- and 'copied_from'.
CREATE TABLE maintenance (
  name TEXT PRIMARY KEY,
  value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
