-- The tasks of a batch are written together, and the ids of its memories have the order in which
-- they were created. With the user's id first, most of the tasks would change a page of their own.
DROP INDEX tasks_by_memory;

CREATE UNIQUE INDEX tasks_by_memory ON tasks (memory_id, project_id, user_id, kind);
