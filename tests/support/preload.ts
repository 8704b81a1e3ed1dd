import { setPriority } from 'node:os';
import { plugin } from 'bun';

/**
 * Raises the test timeout. Bun applies the setting only to the first file (oven-sh/bun#43787), so
 * the call is inserted into every file.
 */
const setLimit = `import { setDefaultTimeout as limitTime } from 'bun:test'; limitTime(120_000);`;

plugin({
  name: 'test timeout',
  setup(build) {
    build.onLoad({ filter: /\.test\.ts$/ }, async ({ path }) => {
      return { loader: 'ts', contents: `${setLimit} ${await Bun.file(path).text()}` };
    });
  },
});

/** The processes that tests start load no model, which would double the time of the tests. */
process.env.MEMORY_EMBEDDINGS ??= 'off';

/**
 * With another priority than the default, all threads of a service have the same one (see
 * yieldPriority). Otherwise, the tests would get the processor first, and on a busy machine a
 * search could take seconds.
 */
setPriority(1);
