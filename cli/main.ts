#!/usr/bin/env bun
import { run } from './run.ts';
import { processTerminal } from './terminal/terminal.ts';

/** npm passes on the Ctrl-C that we got from the terminal too: these two are one, also where the
 * processor is busy with others. */
const samePressMs = 1_000;

// A proxy for the outside must not get the key of the service on this very machine.
const local = ['127.0.0.1', 'localhost', '::1'];
process.env.NO_PROXY = [process.env.NO_PROXY ?? process.env.no_proxy, ...local]
  .filter(Boolean)
  .join(',');

/** Most commands are over before machine code for them would pay; what lasts longer gets it. */
const shortMs = 100;
Bun.unsafe.setJITPolicy(100);
setTimeout(() => Bun.unsafe.setJITPolicy(1), shortMs).unref();

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

// Without a top-level await, which bytecode cannot hold.
void run(process.argv.slice(2), processTerminal(interruption.signal)).then((exitCode) => {
  // Never process.exit() here: what a slow pipe has not taken yet would be lost.
  process.exitCode = exitCode;
});
