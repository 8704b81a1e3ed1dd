import { startVariant } from './variants/start.ts';

/*
 * The process that the harnesses kill. Its only argument is a JSON spec. Without variants, it runs
 * the service exactly as `server/main.ts` does. The first line of output contains the address.
 */
export type Spec = {
  databaseUrl: string;
  port: number;
  variants: string[];
  env: Record<string, string>;
  /** Modules that each thread of the service loads before its own. */
  preload?: string[];
};

if (import.meta.main) {
  const spec = JSON.parse(process.argv[2] ?? '') as Spec;
  const server = await startVariant(spec);
  process.on('SIGTERM', async () => {
    await server.stop();
    process.exitCode = 0;
  });
  // This line is printed last, because the harness may send a signal as soon as it reads the line.
  console.log(JSON.stringify({ url: server.url, pid: process.pid }));
}
