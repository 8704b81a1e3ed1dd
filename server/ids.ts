/** Makes a new opaque id. Ids begin with their time, so that new rows land side by side. */
export function newMemoryId(): string {
  return `mem_${Bun.randomUUIDv7('buffer').toHex()}`;
}

export function newRequestId(): string {
  return `req_${crypto.getRandomValues(new Uint8Array(16)).toHex()}`;
}
