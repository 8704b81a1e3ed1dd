-- Finds a project's failed tasks. The conditions are true for failed tasks alone. They do not use
-- the state, so that a claim does not change a column of this index.
CREATE INDEX tasks_failed ON tasks (project_id)
  WHERE run_at IS NULL AND error_message IS NOT NULL;
