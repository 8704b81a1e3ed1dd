#!/usr/bin/env bun
import { processIo } from './io.ts';
import { run } from './program.ts';

/** npm passes on the Ctrl-C that we got from the terminal too: these two are one. */
const samePressMs = 300;

const interruption = new AbortController();
let interruptedAt = 0;

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    if (!interruption.signal.aborted) {
      interruptedAt = Date.now();
      interruption.abort(signal);
    } else if (Date.now() - interruptedAt > samePressMs) {
      process.exit(130);
    }
  });
}

// Never process.exit() here: what a slow pipe has not taken yet would be lost.
process.exitCode = await run(process.argv.slice(2), processIo(interruption.signal));
