import { Metrics } from '../../server/metrics/reading.ts';
import { CliError, errorText, exitCodes } from '../errors.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { resolveApiKey, resolveBaseUrl } from './connect.ts';

const withinMs = 5_000;

export async function readMetrics(term: Terminal): Promise<Metrics> {
  const { value: baseUrl } = resolveBaseUrl(term);
  const key = resolveApiKey(term, baseUrl)?.value;
  const headers = key === undefined ? {} : { authorization: `Bearer ${key}` };
  const signal = AbortSignal.any([term.interrupted, AbortSignal.timeout(withinMs)]);
  const response = await fetch(`${baseUrl}/metrics`, { headers, signal }).catch(async (cause) => {
    const { ConnectionError } = await import('../../sdk/index.ts');
    throw new ConnectionError(errorText(cause), { cause, code: 'connection' });
  });
  if (response.status === 401 || response.status === 403) throw refused(baseUrl);
  const isText = response.headers.get('content-type')?.startsWith('text/plain; version=0.0.4');
  if (response.ok && isText) return new Metrics(await response.text());
  const hint = 'MEMORY_METRICS=off removes them. Also check the base URL.';
  throw new CliError('not_found', `There are no metrics at ${baseUrl}/metrics.`, hint);
}

function refused(baseUrl: string): CliError {
  const hint = `Run this command on the server's machine, or use a key that was made there with
memory keys create --metrics`;
  const message = `${baseUrl} shows its metrics only to a key for metrics.`;
  return new CliError('forbidden', message, hint, exitCodes.refused);
}
