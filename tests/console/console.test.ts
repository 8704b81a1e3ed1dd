/*
 * One file, because each browser costs two seconds of CPU. Static imports would create the keys of
 * all three at once, each waiting for the other's transaction.
 */
await import('./pages.ts');
await import('./screens.ts');
await import('./work.ts');

export {};
