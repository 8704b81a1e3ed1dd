/** Checks that the packed service serves the front page and the files that the page loads. */
export async function checkFrontPage(url: string): Promise<void> {
  const page = await (await fetch(url, { headers: { accept: 'text/html' } })).text();
  const loaded = [...page.matchAll(/<(?:link|script)[^>]* (?:href|src)="([^"]+)"/g)];
  if (loaded.length !== 3) throw new Error(`the front page loads ${loaded.length} files: ${page}`);
  for (const [, path = ''] of loaded) {
    const response = await fetch(`${url}/${path}`);
    const { length } = await response.bytes();
    if (!response.ok || length === 0) throw new Error(`/${path} returned ${response.status}`);
  }
}
