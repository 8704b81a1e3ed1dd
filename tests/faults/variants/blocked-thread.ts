const blockedMs = 40;
const expensive = /\/v1\/(export|memories\/search\?userId=heavy)/;

/** Makes every export and every search of the heavy user block the HTTP thread. */
export function blockHttpThread(): void {
  const serve = Bun.serve;
  Bun.serve = ((options: { fetch(request: Request, server: unknown): unknown }) => {
    const { fetch } = options;
    return serve({
      ...options,
      fetch(request: Request, server: unknown) {
        if (expensive.test(request.url)) Bun.sleepSync(blockedMs);
        return fetch(request, server);
      },
    } as never);
  }) as typeof serve;
}
