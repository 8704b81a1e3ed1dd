#!/usr/bin/env node
// The entry point of `npx memory-service`. Without arguments, it starts the service.
if (process.argv.length === 2) process.argv.push('serve');
await import('./memory.mjs');
