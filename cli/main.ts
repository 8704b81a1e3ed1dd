#!/usr/bin/env bun
import { run } from './run.ts';
import { processTerminal } from './terminal/terminal.ts';

/**
 * The time within which two signals count as one Ctrl-C: npm forwards a signal that the terminal
 * also sends to this process.
 */
const samePressMs = 1_000;

// Requests to this machine contain the API key and must not go through an outbound proxy.
const local = ['127.0.0.1', 'localhost', '::1'];
const noProxy = [process.env.no_proxy ?? process.env.NO_PROXY, ...local].filter(Boolean).join(',');
// If both are set, Bun uses `no_proxy`.
process.env.NO_PROXY = noProxy;
process.env.no_proxy = noProxy;

/** The JIT starts after this time, because most commands end before it pays off. */
const shortMs = 100;
Bun.unsafe.setJITPolicy(100);
// mutate-ignore removal: affects only speed
setTimeout(() => Bun.unsafe.setJITPolicy(1), shortMs).unref();

/** How long the process waits for a reader of the log after its command has ended. */
const unreadMs = 1_000;

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
  // Log lines that nobody reads must not keep the process alive.
  setTimeout(() => process.exit(), unreadMs).unref();
});
