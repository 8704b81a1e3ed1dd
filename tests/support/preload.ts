import { plugin } from 'bun';

/**
 * For slow and busy machines; no test is meant to take this long. Bun forgets after the first file
 * what is set here (oven-sh/bun#43787), so each file sets it by itself.
 */
const setLimit = `import { setDefaultTimeout as limitTime } from 'bun:test'; limitTime(30_000);`;

plugin({
  name: 'time limit of a test',
  setup(build) {
    build.onLoad({ filter: /\.test\.ts$/ }, async ({ path }) => {
      return { loader: 'ts', contents: `${setLimit} ${await Bun.file(path).text()}` };
    });
  },
});
