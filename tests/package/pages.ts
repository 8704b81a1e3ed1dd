/** Checks that the packed service serves its pages for people, and the files that they load. */
export async function checkPages(url: string): Promise<void> {
  for (const path of ['', 'console', 'docs']) {
    const response = await fetch(`${url}/${path}`, { headers: { accept: 'text/html' } });
    const page = await response.text();
    const loaded = [...page.matchAll(/<(?:link|script)[^>]* (?:href|src)="([^"]+)"/g)];
    if (loaded.length !== 3) throw new Error(`/${path} loads ${loaded.length} files: ${page}`);
    for (const [, file = ''] of loaded) await checkFile(`${url}/${file}`);
  }
}

async function checkFile(url: string): Promise<void> {
  const response = await fetch(url);
  const { length } = await response.bytes();
  if (!response.ok || length === 0) throw new Error(`${url} returned ${response.status}`);
}
