-- Every table leads with project_id in its key, and every statement names it: that is the
-- isolation. Times are milliseconds since 1970.

CREATE TABLE projects (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE api_keys (
  id TEXT PRIMARY KEY,
  project_id INTEGER NOT NULL REFERENCES projects (id),
  name TEXT NOT NULL,
  hash TEXT NOT NULL UNIQUE,
  prefix TEXT NOT NULL,
  last_four TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER,
  last_used_at INTEGER,
  revoked_at INTEGER
) STRICT;

-- The content row is written when the content changes, never for the queue's book-keeping: a row
-- is rewritten whole, and a document's is megabytes.
CREATE TABLE memories (
  seq INTEGER PRIMARY KEY,
  project_id INTEGER NOT NULL,
  id TEXT NOT NULL,
  user_id TEXT NOT NULL,
  type TEXT NOT NULL,
  metadata TEXT NOT NULL,
  source TEXT,
  external_id TEXT,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  content TEXT NOT NULL
) STRICT;

CREATE UNIQUE INDEX memories_by_id ON memories (project_id, id);

CREATE INDEX memories_by_user ON memories (project_id, user_id, created_at, id);

-- A thing in another system is one memory. '' stands for no source, which the contract excludes.
CREATE UNIQUE INDEX memories_by_origin
  ON memories (project_id, user_id, ifnull(source, ''), external_id)
  WHERE external_id IS NOT NULL;

-- A memory's content cut for search, in UTF-16 units, beside the user's other passages: a search
-- reads one range. What search reads of the text is in the same row and goes with it.
CREATE TABLE passages (
  project_id INTEGER NOT NULL,
  user_id TEXT NOT NULL,
  memory_seq INTEGER NOT NULL,
  ordinal INTEGER NOT NULL,
  start INTEGER NOT NULL,
  length INTEGER NOT NULL,
  folded TEXT NOT NULL,
  PRIMARY KEY (project_id, user_id, memory_seq, ordinal)
) STRICT, WITHOUT ROWID;

-- One row for each ingested memory; it stays when the work is done, to answer for its status.
--   waiting -> running -> complete | failed | waiting (again, later)
-- and from any state to waiting when the record is ingested again. lease_token goes up with every
-- claim and every change of the text, so that a late result of older work is refused. run_at is
-- null once the work has ended.
CREATE TABLE jobs (
  project_id INTEGER NOT NULL,
  memory_seq INTEGER NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('waiting', 'running', 'complete', 'failed')),
  accepted_at INTEGER NOT NULL,
  run_at INTEGER,
  updated_at INTEGER NOT NULL,
  attempts INTEGER NOT NULL DEFAULT 0,
  -- Not from 0: SQLite may give a later memory the seq of a deleted one, whose last lease must not
  -- fit.
  lease_token INTEGER NOT NULL DEFAULT (abs(random() % 1000000000000)),
  chunks_complete INTEGER NOT NULL DEFAULT 0,
  chunks_total INTEGER NOT NULL DEFAULT 0,
  error_message TEXT,
  PRIMARY KEY (project_id, memory_seq)
) STRICT, WITHOUT ROWID;

-- What waits or runs, by its time, since the queue serves all projects. The state is no part of it,
-- so that a claim leaves it as it is.
CREATE INDEX jobs_pending ON jobs (run_at, project_id, accepted_at) WHERE run_at IS NOT NULL;

-- The first answer to each idempotency key. memory_id is set where the body holds that memory's
-- text, which must go when the memory goes.
CREATE TABLE answers (
  seq INTEGER PRIMARY KEY,
  project_id INTEGER NOT NULL,
  key TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  status INTEGER NOT NULL,
  body TEXT NOT NULL,
  memory_id TEXT,
  created_at INTEGER NOT NULL
) STRICT;

CREATE UNIQUE INDEX answers_by_key ON answers (project_id, key);

CREATE INDEX answers_by_memory ON answers (project_id, memory_id) WHERE memory_id IS NOT NULL;

-- What has to be done once and survive a crash until it is: 'scrub' after text was erased. `noted`
-- counts how often it was asked for, so that what is asked for meanwhile is not taken for done.
CREATE TABLE chores (
  name TEXT PRIMARY KEY,
  noted INTEGER NOT NULL DEFAULT 1
) STRICT, WITHOUT ROWID;
