import type { Accepted, MemoryClient } from '../sdk/index.ts';
import type { AfterIngest } from './accepted.ts';
import { CliError, ExitWith, exitCodes } from './failure.ts';
import { type Io, note } from './io.ts';
import { printJsonLine, printLine } from './output.ts';
import { escaped, visible } from './text.ts';
import { waitForAll } from './waiting.ts';

/** Ingests one file after the other. One that cannot be taken does not stop the rest. */
export async function ingestEach(
  io: Io,
  client: MemoryClient,
  paths: string[],
  ingest: (path: string) => Promise<Accepted>,
  { json, wait, timeout }: AfterIngest,
): Promise<void> {
  const memoryIds: string[] = [];
  let failed = 0;
  for (const path of paths) {
    try {
      const accepted = await ingest(path);
      memoryIds.push(accepted.memoryId);
      await (json ? printJsonLine(io, accepted) : printLine(io, row(io, accepted.memoryId, path)));
    } catch (error) {
      if (!(await isAboutTheFile(error))) throw error;
      failed += 1;
      await tellBadFile(io, json, path, error);
    }
  }
  let complete = 0;
  const waited = wait
    ? await waitForAll(io, client, memoryIds, timeout, async ({ error }) => {
        if (error === null) complete += 1;
        else await note(io, error.message);
      })
    : exitCodes.done;
  const ended = wait ? ` ${complete} complete,` : '';
  if (!json) await note(io, `${memoryIds.length} ingested,${ended} ${failed} failed.`);
  const exitCode = failed > 0 ? exitCodes.failed : waited;
  if (exitCode !== exitCodes.done) throw new ExitWith(exitCode);
}

type AboutTheFile = { code: string; message: string };

/** A lost connection or a refused key would fail every other file too. */
async function isAboutTheFile(error: unknown): Promise<boolean> {
  const { InvalidRequestError, PayloadTooLargeError } = await import('../sdk/index.ts');
  return [CliError, InvalidRequestError, PayloadTooLargeError].some((one) => error instanceof one);
}

async function tellBadFile(io: Io, json: true | undefined, path: string, error: unknown) {
  const { code, message } = error as AboutTheFile;
  if (json) await printJsonLine(io, { externalId: path, error: { code, message } });
  else await note(io, `${visible(path)}: ${visible(message)}`);
}

function row(io: Io, memoryId: string, path: string): string {
  return io.stdout.isTerminal ? `${memoryId}  ${visible(path)}` : `${memoryId}\t${escaped(path)}`;
}
