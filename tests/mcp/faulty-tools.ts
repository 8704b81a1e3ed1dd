import { type Tool, tools } from '../../server/mcp/tools/tools.ts';

/* Tools that end or block their own thread. Every worker thread preloads this module. */

function faulty(name: string, description: string, run: () => never): Tool {
  const inputSchema = { type: 'object', properties: {}, additionalProperties: false } as const;
  const annotations = { readOnlyHint: true, destructiveHint: false, idempotentHint: true };
  return { name, description, inputSchema, annotations, run };
}

tools.push(
  faulty('end_thread', 'Ends the thread.', () => process.exit(1)),
  faulty('block_thread', 'Blocks the thread forever.', () => {
    for (;;) Bun.sleepSync(20);
  }),
);
