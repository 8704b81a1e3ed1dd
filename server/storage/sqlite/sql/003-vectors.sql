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
  memory_row_id INTEGER PRIMARY KEY REFERENCES memories (row_id) ON DELETE CASCADE,
  model_id INTEGER NOT NULL REFERENCES models (model_id),
  change INTEGER NOT NULL,
  text_hash TEXT NOT NULL,
  data BLOB NOT NULL
) STRICT;

-- All of the user's changes up to this one have vectors of the present model. The column has no
-- index, because a save would have to update it: the model thread learns of new memories by a
-- message, and reads all rows only now and then.
ALTER TABLE users ADD COLUMN embedded_change INTEGER NOT NULL DEFAULT -1;
