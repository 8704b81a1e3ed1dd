import { signal } from '@preact/signals';

/** The part of the address after `#/`. Browsers do not send it to the server. */
type Route = { path: string[]; query: Record<string, string> };

function readRoute(): Route {
  const [path = '', query = ''] = location.hash.replace(/^#\/?/, '').split('?', 2);
  return {
    path: path.split('/').map(decode),
    query: Object.fromEntries(new URLSearchParams(query)),
  };
}

/** An address that somebody typed can contain a percent sign that encodes nothing. */
export function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export const route = signal(readRoute());
addEventListener('hashchange', () => {
  route.value = readRoute();
});

export function hrefTo(path: string[], query: Record<string, string> = {}): string {
  const given = Object.entries(query).filter(([, value]) => value !== '');
  const search = given.length === 0 ? '' : `?${new URLSearchParams(given)}`;
  return `#/${path.map(encodeURIComponent).join('/')}${search}`;
}

/** Changes the address without an entry in the history. */
export function replaceRoute(href: string): void {
  history.replaceState(null, '', href);
  route.value = readRoute();
}

/** Typing must not fill the history. */
export function replaceQuery(changes: Record<string, string>): void {
  const { path, query } = route.value;
  replaceRoute(hrefTo(path, { ...query, ...changes }));
}
