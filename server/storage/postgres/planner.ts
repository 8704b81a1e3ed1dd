/*
 * Settings of connections for PostgreSQL's planner. Before PostgreSQL 18, the penalty for what a
 * setting turns off would trigger just-in-time compilation.
 */

/**
 * For connections that write. A statement that changes many rows finds each by its key, and so
 * locks them in order. By default, the planner would read all rows of a table that is small or not
 * yet analyzed, and keep this plan while the table grows.
 */
export const changeByKey = {
  cpu_tuple_cost: '100',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  enable_seqscan: 'off',
  jit: 'off',
};

/**
 * For connections that read pages. The planner expects too few rows per user, because it considers
 * project and user independent, and would therefore sort all rows instead of reading an index in
 * order. It plans a statement once, for any limit, because to plan a list takes twice as long as to
 * run it. Even if there are no tasks at that time, it looks up each memory's task by its key.
 */
export const readInIndexOrder = {
  ...changeByKey,
  enable_material: 'off',
  enable_sort: 'off',
  plan_cache_mode: 'force_generic_plan',
};
