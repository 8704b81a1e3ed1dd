import { appendFileSync } from 'node:fs';
import { plugin } from 'bun';

/* Logs each module of the MCP library that a thread loads. Preloaded in commands and threads. */

plugin({
  name: 'log of loaded modules',
  setup(build) {
    build.onLoad({ filter: /modelcontextprotocol.*\.mjs$/ }, async ({ path }) => {
      appendFileSync(process.env.LOADED_LOG ?? '', `${path}\n`);
      return { contents: await Bun.file(path).text(), loader: 'js' };
    });
  },
});
