import { type Tool, tools } from '../../server/mcp/tools/tools.ts';

/* A tool that throws. Every worker thread preloads this module. */

function faulty(name: string, description: string, run: () => never): Tool {
  const inputSchema = { type: 'object', properties: {}, additionalProperties: false } as const;
  const annotations = { readOnlyHint: true, destructiveHint: false, idempotentHint: true };
  return { name, description, inputSchema, annotations, run };
}

tools.push(
  faulty('throw_error', 'Throws an error that is not from the service.', () => {
    throw new Error('a bug in the tool');
  }),
);
