-- The vectors of some hundred memories of a user in one row: of all memories whose last_change is
-- greater than after_change, but not than this last_change. memories is their number. data is a
-- checksum and columns; operations/vector-parts.ts explains them. The parts of a user do not
-- overlap. The index contains all that is read of parts whose data is not needed.
CREATE TABLE vector_parts (
  project_id INTEGER NOT NULL,
  user_id TEXT NOT NULL,
  model_id INTEGER NOT NULL REFERENCES models (model_id),
  after_change INTEGER NOT NULL,
  last_change INTEGER NOT NULL,
  memories INTEGER NOT NULL,
  data BLOB NOT NULL
) STRICT;

CREATE UNIQUE INDEX vector_parts_by_user
  ON vector_parts (project_id, user_id, last_change, after_change, memories);
