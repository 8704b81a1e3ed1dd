-- Every table of what users entrusted to us leads with project_id and then bucket in its key: the
-- isolation, and how a database spreads the rows (see server/bucket.ts). Times are milliseconds
-- since 1970, but for leases, which are judged by the database's clock. Texts sort by their bytes.

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

-- A user has a row while it has memories. Every transaction that changes what a search of the user
-- finds locks the row and counts last_change up, so its numbers are in the order of the commits. It
-- begins at a random number, so that a user who was erased and came back is not taken for the one
-- before.
CREATE TABLE users (
  project_id int8 NOT NULL,
  bucket int2 NOT NULL,
  user_id text COLLATE "C" NOT NULL,
  memories int8 NOT NULL,
  last_change int8 NOT NULL,
  PRIMARY KEY (project_id, bucket, user_id)
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);

CREATE INDEX users_by_id ON users (project_id, user_id);

-- A row is written when the content changes, never for the queue's bookkeeping. last_change is the
-- user's at the time of the last change. id_bucket is where memory_locations names the memory, if
-- it does. origin is a hash of source and external id, which can be too long for an index.
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

-- What a search index that is held in memory has to read again.
CREATE INDEX memories_by_change ON memories (project_id, bucket, user_id, last_change);

-- A thing in another system is one memory.
CREATE UNIQUE INDEX memories_by_origin ON memories (project_id, bucket, user_id, origin)
  WHERE origin IS NOT NULL;

CREATE INDEX memories_by_expiry ON memories (expires_at) WHERE expires_at IS NOT NULL;

-- Where a memory is whose id does not name its user's bucket, and every memory that was imported:
-- `bucket` is the id's, `location` the memory's. The key decides whether an id is in use.
CREATE TABLE memory_locations (
  project_id int8 NOT NULL,
  bucket int2 NOT NULL,
  id text COLLATE "C" NOT NULL,
  location int2 NOT NULL,
  PRIMARY KEY (project_id, bucket, id)
);

-- The durable queue.
--   waiting -> running -> complete | failed | waiting (again, later)
-- and from any state to waiting when its record is ingested again. A memory that was ingested has
-- one task of kind 'index', which stays when the work is done, to answer for its status;
-- last_change is then the user's, as in memories. lease_token goes up with every claim and every
-- change of the text, so that a late result of older work is refused; it begins at a random number.
-- run_at is null once the work has ended; place is the order among records that were accepted
-- together. The low 12 bits of task_id are the bucket. A claim
-- changes no indexed column.
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

-- What waits or runs, by its time, since the queue serves all projects.
CREATE INDEX tasks_pending ON tasks (run_at, place, project_id, accepted_at)
  WHERE run_at IS NOT NULL;

CREATE INDEX tasks_by_change ON tasks (project_id, bucket, user_id, last_change)
  WHERE last_change IS NOT NULL;

-- The first response to each idempotency key. bucket is the key's, so a key is unique in its
-- project whatever it was used for. scope is the user that the API key is bound to, or ''.
-- memory_id and memory_bucket are set where the body is that memory's text; the body is null once
-- the memory is gone. stored_uptime is the service's uptime (see maintenance) when the row was
-- written.
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

-- Of each project the requests that its servers took of the rate limit's window, which ends at
-- ends_at. Unlogged: after a crash of the database a new window begins, and no request waits for
-- the disk or a standby.
CREATE UNLOGGED TABLE quotas (
  project_id int8 PRIMARY KEY,
  used int8 NOT NULL,
  ends_at timestamptz NOT NULL
) WITH (fillfactor = 50);

-- 'uptime': the milliseconds that the service has run on this database by a clock that is never
-- set. 'turn': which server cleans up, until when. 'probe' is written to find out whether writes
-- succeed. See storage/copy for 'database_id' and 'copied_from'.
CREATE TABLE maintenance (
  name text PRIMARY KEY,
  value int8 NOT NULL DEFAULT 0,
  holder text,
  held_until timestamptz
);

INSERT INTO maintenance (name) VALUES ('uptime'), ('turn'), ('probe');
