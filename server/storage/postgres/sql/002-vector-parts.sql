CREATE TABLE vector_parts (
  project_id bigint NOT NULL,
  user_id text COLLATE "C" NOT NULL,
  model_id bigint NOT NULL,
  after_change bigint NOT NULL,
  last_change bigint NOT NULL,
  memories bigint NOT NULL,
  data bytea NOT NULL,
  PRIMARY KEY (project_id, user_id, last_change) INCLUDE (after_change, memories)
);

ALTER TABLE vector_parts ALTER COLUMN data SET STORAGE EXTERNAL;
