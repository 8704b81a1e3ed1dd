#!/usr/bin/env node
// What `npx memory-service` runs: the service, or, with arguments, the command line.
if (process.argv.length === 2) process.argv.push('serve');
await import('./memory.mjs');
