import { tools } from '../../server/mcp/tools/tools.ts';

/* A tool that ends its own thread. Preloaded in every thread. */

tools.push({
  name: 'end_thread',
  description: 'Ends the thread.',
  inputSchema: { type: 'object', properties: {}, additionalProperties: false },
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true },
  run: () => process.exit(1),
});
