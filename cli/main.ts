#!/usr/bin/env bun
import { run } from './run.ts';
import { processTerminal } from './terminal/terminal.ts';

/**
 * npm forwards a Ctrl-C that the terminal has also sent to us. Two signals within this time count
 * as one press, even on a busy machine.
 */
const samePressMs = 1_000;

// An outbound proxy must not receive the key of the service on this machine.
const local = ['127.0.0.1', 'localhost', '::1'];
process.env.NO_PROXY = [process.env.NO_PROXY ?? process.env.no_proxy, ...local]
  .filter(Boolean)
  .join(',');

/** Most commands end before the JIT pays off, so it is enabled only for longer ones. */
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

// No top-level await: bytecode does not support it.
void run(process.argv.slice(2), processTerminal(interruption.signal)).then((exitCode) => {
  // process.exit() would discard output that a slow pipe has not accepted yet.
  process.exitCode = exitCode;
});
