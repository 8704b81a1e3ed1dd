import { tools } from '../../../server/mcp/tools/tools.ts';

/* The text-only tools that the conformance suite calls. Every worker thread preloads them. */

class Failure extends Error {
  readonly code = 'unavailable';
  readonly status = 503;
}

const shape = {
  properties: {},
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true },
};

tools.push(
  {
    ...shape,
    name: 'test_simple_text',
    description: 'Returns a text.',
    run: async () => 'This is a simple text response for testing.',
  },
  {
    ...shape,
    name: 'test_error_handling',
    description: 'Fails.',
    run: async () => {
      throw new Failure('This tool intentionally returns an error for testing');
    },
  },
);
