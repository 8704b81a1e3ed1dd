import { join } from 'node:path';
import type { RunningServer } from '../../server/main.ts';
import { applyVariants, chooseVariants } from './variants/apply.ts';

/*
 * The process that the harnesses kill. Its only argument is a `Spec` in JSON. Without variants, the
 * process runs the service exactly as `server/main.ts` does. The first line of stdout contains the
 * address of the server.
 */
export type Spec = {
  databaseUrl: string;
  port: number;
  variants: string[];
  env: Record<string, string>;
};

/** Starts the service with the variants applied to this thread and all threads that it starts. */
async function start({ env, variants, ...spec }: Spec): Promise<RunningServer> {
  const chosen = chooseVariants(variants);
  process.env.FAULT_VARIANTS = variants.join();
  if (chosen.length > 0) applyVariants(chosen);
  // The import must follow `applyVariants`, so that the modules find the replaced values.
  const { startServer } = await import('../../server/main.ts');
  const preload = chosen.length > 0 ? [join(import.meta.dir, 'variants/preload.ts')] : [];
  const settings = Object.assign({}, env, ...chosen.map((variant) => variant.env));
  return startServer({ ...spec, env: settings, onFatal: 'exit', preload });
}

if (import.meta.main) {
  const server = await start(JSON.parse(process.argv[2] ?? ''));
  process.on('SIGTERM', async () => {
    await server.stop();
    process.exitCode = 0;
  });
  // The harness may send a signal as soon as it reads this line, so the handler is installed first.
  console.log(JSON.stringify({ url: server.url, pid: process.pid }));
}
