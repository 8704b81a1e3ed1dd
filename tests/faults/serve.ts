import { startVariant } from './variants/start.ts';

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

if (import.meta.main) {
  const spec = JSON.parse(process.argv[2] ?? '') as Spec;
  const server = await startVariant(spec);
  process.on('SIGTERM', async () => {
    await server.stop();
    process.exitCode = 0;
  });
  // The harness may send a signal as soon as it reads this line, so the handler is installed first.
  console.log(JSON.stringify({ url: server.url, pid: process.pid }));
}
