/** Listens on a free port, prints the address, and stops on SIGTERM. */
export function listenOn(
  fetch: (request: Request) => Response | Promise<Response>,
  close: () => void = () => {},
): void {
  const server = Bun.serve({ port: 0, hostname: '127.0.0.1', development: false, fetch });
  console.log(JSON.stringify({ url: `http://127.0.0.1:${server.port}` }));
  process.on('SIGTERM', async () => {
    await server.stop(true);
    close();
  });
}
