import { setDefaultTimeout } from 'bun:test';

/** For slow and busy machines; no test is meant to take this long. */
setDefaultTimeout(30_000);
