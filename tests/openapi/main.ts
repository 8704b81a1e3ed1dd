import { runCases } from '../support/cases.ts';
import { startTestServer } from '../support/server.ts';
import { clientCases } from './clients.ts';
import { linterCases, schemathesisCases } from './validators.ts';

/*
 * Checks the OpenAPI document with third-party tools. Needs package registries, Python, Go and
 * Java, and takes half an hour. Arguments select cases by a part of their names.
 */

const server = await startTestServer();
const cases = [...linterCases(server), ...clientCases(server), ...schemathesisCases(server)];
await runCases(cases, process.argv.slice(2));
await server.stop();
