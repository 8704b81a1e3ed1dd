import { startVariant } from './variants/start.ts';

/*
 * The process that the harnesses kill. Its one argument is JSON; with no variants it is the service
 * exactly as `server/main.ts` wires it. The first line it prints says where it listens.
 */
export type Spec = {
  databaseUrl: string;
  port: number;
  variants: string[];
  env: Record<string, string>;
  /** Modules that each thread of the service loads first. */
  preload?: string[];
};

if (import.meta.main) {
  const spec = JSON.parse(process.argv[2] ?? '') as Spec;
  const server = await startVariant(spec);
  process.on('SIGTERM', async () => {
    await server.stop();
    process.exitCode = 0;
  });
  // Last: who reads it may send a signal at once.
  console.log(JSON.stringify({ url: server.url, pid: process.pid }));
}
