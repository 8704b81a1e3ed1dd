const heldMs = 40;
const costly = /\/v1\/(export|memories\/search\?userId=heavy)/;

/** The HTTP thread stands still for each request that reads much. */
export function holdHttpThread(): void {
  const serve = Bun.serve;
  Bun.serve = ((options: { fetch(request: Request, server: unknown): unknown }) => {
    const { fetch } = options;
    return serve({
      ...options,
      fetch(request: Request, server: unknown) {
        if (costly.test(request.url)) Bun.sleepSync(heldMs);
        return fetch(request, server);
      },
    } as never);
  }) as typeof serve;
}
