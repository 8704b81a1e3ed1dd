import { expect, test } from 'bun:test';
import { Glob } from 'bun';
import { withServer } from '../support/server.ts';
import { replay } from './transcript.ts';

/* To write the real output to the files: UPDATE_TRANSCRIPTS=1 bun test tests/cli/transcripts */

// The size of the log, which memory stats would show, varies.
const server = await withServer({ MEMORY_METRICS: 'off' });

const folder = `${import.meta.dir}/transcripts`;
for (const name of [...new Glob('*.txt').scanSync(folder)].sort()) {
  test(`the commands in ${name} print what the file shows`, async () => {
    const file = Bun.file(`${folder}/${name}`);
    const text = await file.text();
    const real = await replay(text, server, name.replace('.txt', ''));
    if (process.env.UPDATE_TRANSCRIPTS) await file.write(real);
    else expect(real).toBe(text);
  });
}
