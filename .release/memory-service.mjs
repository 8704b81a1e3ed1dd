#!/usr/bin/env node
// The entry point of `npx memory-service`: the service, or the command line if it has arguments.
if (process.argv.length === 2) process.argv.push('serve');
await import('./memory.mjs');
