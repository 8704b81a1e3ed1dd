-- The primary key of every table with user data begins with project_id, which isolates projects,
-- and bucket, by which rows can be distributed (see server/bucket.ts). Times of type int8 are
-- milliseconds since 1970. Times of type timestamptz are compared with the database's clock.
-- COLLATE "C" sorts texts by their bytes.

CREATE TABLE projects (
  project_id int8 PRIMARY KEY,
  name text COLLATE "C" NOT NULL UNIQUE
);

-- user_id is set for a key that is bound to one user.
CREATE TABLE api_keys (
  id text COLLATE "C" PRIMARY KEY,
  project_id int8 NOT NULL REFERENCES projects (project_id),
  name text NOT NULL,
  hash text COLLATE "C" NOT NULL UNIQUE,
  prefix text NOT NULL,
  last_four text NOT NULL,
  user_id text,
  read_only bool NOT NULL DEFAULT false,
  created_at int8 NOT NULL,
  expires_at int8,
  last_used_at int8,
  revoked_at int8
);

-- Each user with memories has a row. Every transaction that changes the results of the user's
-- searches locks the row and increments last_change, so change numbers follow the order of commits.
-- last_change starts at a random number, so that a search index of an erased user is not used for a
-- new user with the same id.
CREATE TABLE users (
  project_id int8 NOT NULL,
  bucket int2 NOT NULL,
  user_id text COLLATE "C" NOT NULL,
  memories int8 NOT NULL,
  last_change int8 NOT NULL,
  PRIMARY KEY (project_id, bucket, user_id)
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);

CREATE INDEX users_by_id ON users (project_id, user_id);

-- A row changes only when the memory changes; the processing state is in tasks. last_change is the
-- user's change number at the last change of the row. id_bucket is the bucket of the memory's row
-- in memory_locations, or null if there is none. origin is a hash of source and external id, which
-- can be too long for an index.
CREATE TABLE memories (
  project_id int8 NOT NULL,
  bucket int2 NOT NULL,
  id text COLLATE "C" NOT NULL,
  id_bucket int2,
  user_id text COLLATE "C" NOT NULL,
  type text NOT NULL,
  metadata text NOT NULL,
  source text,
  external_id text,
  origin text COLLATE "C",
  version int8 NOT NULL,
  last_change int8 NOT NULL,
  occurred_at int8,
  expires_at int8,
  created_at int8 NOT NULL,
  updated_at int8 NOT NULL,
  content text NOT NULL,
  PRIMARY KEY (project_id, bucket, id)
);

CREATE INDEX memories_by_user ON memories (project_id, bucket, user_id, created_at, id);

-- Finds the changes that a search index in memory does not contain yet.
CREATE INDEX memories_by_change ON memories (project_id, bucket, user_id, last_change);

-- Each item from another system is stored as at most one memory.
CREATE UNIQUE INDEX memories_by_origin ON memories (project_id, bucket, user_id, origin)
  WHERE origin IS NOT NULL;

CREATE INDEX memories_by_expiry ON memories (expires_at) WHERE expires_at IS NOT NULL;

-- The locations of all imported memories, and of memories whose id does not contain their user's
-- bucket. bucket is the bucket of the id, and location is the bucket of the memory. The primary key
-- keeps an id from being used twice in a project.
CREATE TABLE memory_locations (
  project_id int8 NOT NULL,
  bucket int2 NOT NULL,
  id text COLLATE "C" NOT NULL,
  location int2 NOT NULL,
  PRIMARY KEY (project_id, bucket, id)
);

-- The durable queue.
--   waiting -> running -> complete | failed | waiting (to be retried)
-- A task in any state returns to waiting when its record is ingested again. An ingested memory has
-- one task of kind 'index', which is kept when the work is done, because the memory's status is
-- derived from it. last_change is then the user's change number at completion. lease_token is
-- incremented by every claim and every change of the text, so that late results are rejected. It
-- starts at a random number. run_at is null when no work is left. place is the position of the
-- record among the records that were accepted together. The low 12 bits of task_id are the bucket.
-- A claim changes no indexed column, which allows HOT updates.
CREATE TABLE tasks (
  project_id int8 NOT NULL,
  bucket int2 NOT NULL,
  task_id int8 NOT NULL,
  kind text NOT NULL,
  payload text NOT NULL DEFAULT '{}',
  memory_id text COLLATE "C",
  user_id text COLLATE "C",
  state text NOT NULL CHECK (state IN ('waiting', 'running', 'complete', 'failed')),
  accepted_at int8 NOT NULL,
  run_at int8,
  place int4 NOT NULL,
  updated_at int8 NOT NULL,
  attempts int4 NOT NULL DEFAULT 0,
  lease_token int8 NOT NULL,
  lease_owner text COLLATE "C",
  leased_until timestamptz,
  chunks_complete int4 NOT NULL DEFAULT 0,
  chunks_total int4 NOT NULL DEFAULT 0,
  error_message text,
  last_change int8,
  PRIMARY KEY (project_id, bucket, task_id)
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02);

CREATE UNIQUE INDEX tasks_by_memory ON tasks (project_id, bucket, memory_id, kind)
  WHERE memory_id IS NOT NULL;

-- The waiting and running tasks of all projects, by due time.
CREATE INDEX tasks_pending ON tasks (run_at, place, project_id, accepted_at)
  WHERE run_at IS NOT NULL;

CREATE INDEX tasks_by_change ON tasks (project_id, bucket, user_id, last_change)
  WHERE last_change IS NOT NULL;

-- The first response to each idempotency key. bucket is derived from the key, so a key is unique in
-- its project and scope. scope is the user that the API key is bound to, or ''. memory_id and
-- memory_bucket are set if the body contains data of a memory, and the body is set to null when that
-- memory is deleted. stored_uptime is the service's uptime (see maintenance) when the row was written.
CREATE TABLE idempotency_keys (
  project_id int8 NOT NULL,
  bucket int2 NOT NULL,
  scope text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL,
  fingerprint text NOT NULL,
  status int2 NOT NULL,
  body text,
  memory_id text COLLATE "C",
  memory_bucket int2,
  version int8,
  stored_uptime int8 NOT NULL,
  created_at int8 NOT NULL,
  PRIMARY KEY (project_id, bucket, scope, key)
) WITH (autovacuum_vacuum_scale_factor = 0.02);

CREATE INDEX idempotency_keys_by_memory ON idempotency_keys (project_id, memory_id)
  WHERE memory_id IS NOT NULL;

CREATE INDEX idempotency_keys_by_age ON idempotency_keys (stored_uptime, created_at);

-- The number of requests that servers have reserved from each project's rate limit in the window
-- that ends at ends_at. The table is unlogged, so that no request waits for the disk or a standby.
-- After a crash of the database, a new window begins.
CREATE UNLOGGED TABLE quotas (
  project_id int8 PRIMARY KEY,
  used int8 NOT NULL,
  ends_at timestamptz NOT NULL
) WITH (fillfactor = 50);

-- 'uptime' is how long the service has run on this database, in milliseconds, measured by a
-- monotonic clock. 'turn' stores which server runs the cleanup and when its turn ends. 'probe' is
-- written to test whether writes succeed. 'database_id' and 'copied_from' are described in
-- storage/copy.
CREATE TABLE maintenance (
  name text PRIMARY KEY,
  value int8 NOT NULL DEFAULT 0,
  holder text,
  held_until timestamptz
);

INSERT INTO maintenance (name) VALUES ('uptime'), ('turn'), ('probe');
