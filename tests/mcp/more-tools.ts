import { type Tool, tools } from '../../server/mcp/tools/tools.ts';

/*
 * Tools that wait until another call releases them, and one that throws. Every worker thread
 * preloads this module, but only the MCP thread runs tools.
 */

const waiting: (() => void)[] = [];

function tool(name: string, description: string, run: () => Promise<string>): Tool {
  const annotations = { readOnlyHint: true, destructiveHint: false, idempotentHint: true };
  return { name, description, properties: {}, annotations, run };
}

tools.push(
  tool('wait', 'Waits until it is released.', () => {
    return new Promise((resolve) => waiting.push(() => resolve('released')));
  }),
  tool('count', 'Returns the number of waiting calls.', async () => String(waiting.length)),
  tool('release', 'Releases all waiting calls.', async () => {
    for (const release of waiting.splice(0)) release();
    return 'done';
  }),
  tool('throw_error', 'Throws an error that is not from the service.', () => {
    throw new Error('a bug in the tool');
  }),
);
