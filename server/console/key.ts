/** The address of the service, also behind a proxy that adds a prefix. */
export const address = new URL('.', location.href).href.replace(/\/$/, '');

const storageName = 'memory-api-key';

/** The key stays in this tab. The browser forgets it when the tab is closed. */
export function storedKey(): string | null {
  return sessionStorage.getItem(storageName);
}

export function storeKey(apiKey: string | null): void {
  if (apiKey === null) sessionStorage.removeItem(storageName);
  else sessionStorage.setItem(storageName, apiKey);
}
