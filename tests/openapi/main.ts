import { startTestServer } from '../support/server.ts';
import { type Case, clientCases } from './clients.ts';
import { linterCases, schemathesisCases } from './validators.ts';

/*
 * Checks the OpenAPI document with third-party tools. Needs package registries, Python, Go and
 * Java, and takes half an hour. Arguments select cases by a part of their names.
 */

async function attempt({ name, run }: Case): Promise<boolean> {
  const begin = performance.now();
  const [outcome, result] = await run().then(
    (text) => ['pass', text],
    (error) => ['FAIL', error instanceof Error ? error.message : String(error)],
  );
  const seconds = ((performance.now() - begin) / 1_000).toFixed(0).padStart(4);
  console.log(`${outcome} ${seconds} s  ${name.padEnd(32)} ${result}`);
  return outcome === 'pass';
}

const wanted = process.argv.slice(2);
const server = await startTestServer();
const cases = [...linterCases(server), ...clientCases(server), ...schemathesisCases(server)];
const chosen = cases.filter(
  ({ name }) => wanted.length === 0 || wanted.some((part) => name.includes(part)),
);
let failed = chosen.length === 0 ? 1 : 0;
for (const one of chosen) {
  if (!(await attempt(one))) failed += 1;
}
await server.stop();
process.exitCode = failed === 0 ? 0 : 1;
