type Limits = { maxBytes: number; maxMs: number; maxConcurrent: number };

/**
 * Returns a function that reads and discards the rest of a request body, and returns whether the
 * body ended within the limits.
 *
 * An error response may be ready while the client is still sending. Many clients read the response
 * only after they have sent the whole body, and fail with a broken pipe if the connection closes
 * before that.
 */
export function createDiscard({ maxBytes, maxMs, maxConcurrent }: Limits) {
  let running = 0;
  return async (body: ReadableStream<Uint8Array>): Promise<boolean> => {
    if (running >= maxConcurrent) return false;
    running += 1;
    const reader = body.getReader();
    let isCut = false;
    const cut = () => {
      isCut = true;
      return reader.cancel();
    };
    const timer = setTimeout(cut, maxMs);
    try {
      for (let bytes = 0; !isCut; ) {
        const { done, value } = await reader.read();
        if (done) break;
        bytes += value.length;
        if (bytes > maxBytes) await cut();
      }
      return !isCut;
    } catch {
      // The client closed the connection.
      return false;
    } finally {
      clearTimeout(timer);
      running -= 1;
    }
  };
}
