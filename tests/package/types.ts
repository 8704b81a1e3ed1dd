import { packSdk } from '../../.release/sdk.ts';
import { emptyProject, type Project } from './project.ts';

/*
 * Checks the packed types with strict TypeScript, including every declaration file. As a program,
 * it packs only the SDK.
 */

const program = `
import { MemoryClient, NotFoundError } from 'memory-service-sdk';
import type { ApiResponse, CallOptions, Highlight, IngestRecord, Memory } from 'memory-service-sdk';
import type { Message, Page, RecordType, SavedMemory, SaveRequest } from 'memory-service-sdk';
import type { TimelineEntry } from 'memory-service-sdk';

const memory = new MemoryClient({ apiKey: 'k', baseUrl: 'http://127.0.0.1', maxRetries: 1 });
const request: SaveRequest = { userId: 'u', content: 'c', metadata: { tags: ['a', 1, null] } };
const entry: TimelineEntry = { author: 'user', content: 'x', timestamp: 0 };
const options: CallOptions = { signal: AbortSignal.timeout(1), idempotencyKey: null };
const data = { subject: 's', comments: [entry] };
const records: IngestRecord[] = [{ type: 'ticket', userId: 'u', data, expiresAt: new Date() }];
const type: RecordType = 'ticket';

export async function main(): Promise<Memory[]> {
  const saved = await memory.save(request, options);
  const keyed: SavedMemory = await memory.save(request, { idempotencyKey: 'k' });
  const id: string = saved.memoryId + keyed.content;
  const page: Page = await memory.list({ userId: 'u', type, metadata: { plan: 'pro', seats: 3 } });
  const all: Memory[] = [...page.items];
  for await (const one of memory.list({ userId: 'u' })) all.push(one);
  const { data, response }: ApiResponse<Memory> = await memory.get(id).withResponse();
  await memory.ingest.batch({ items: records });
  const { status } = await memory.waitUntilComplete(data.id, { onStatus: (s) => s.chunksTotal });
  const text: 'processing' | 'complete' | 'failed' = status;
  const { items } = await memory.search({ userId: 'u', query: text });
  items.map(({ score, snippet }) => score.toFixed() + snippet + response.headers.get('x'));
  const found: Highlight[] = items.flatMap(({ highlights }) => highlights);
  found.map(({ start, end }) => end - start);
  interface Part { type: 'image_url'; image_url: { url: string } }
  const image: Part = { type: 'image_url', image_url: { url: 'https://a.example/i.png' } };
  const parts = [{ type: 'text', text: 'x' }, image];
  const tool_calls = [{ id: 'c', type: 'function', function: { name: 'n', arguments: '{}' } }];
  const messages: Message[] = [
    { role: 'user', content: parts },
    { role: 'assistant', content: null, tool_calls },
    { role: 'assistant', refusal: 'No', function_call: null, annotations: [], audio: null },
    { role: 'assistant', function_call: { name: 'n', arguments: '{}' } },
    entry,
    { role: 'user', content: [{ type: 'image_url', image_url: { url: 'https://a.example' } }] },
  ];
  await memory.ingest.chat({ userId: 'u', messages, occurredAt: '2026-05-08', source: undefined });
  // A key that is bound to a user needs no user id.
  await memory.save({ content: 'c' });
  await memory.search({ query: 'c', limit: 1 });
  for await (const one of memory.list()) all.push(one);
  await memory.ingest.support({ data: { subject: 's', comments: [entry] } });
  await memory.ingest.chat({ messages, metadata: image });
  await memory.deleteAll({});
  // @ts-expect-error A user id that is given must be text.
  await memory.list({ userId: undefined });
  // @ts-expect-error A message has no other fields.
  await memory.ingest.chat({ userId: 'u', messages: [{ role: 'user', text: 'x' }] });
  // @ts-expect-error A comment needs content.
  await memory.ingest.support({ userId: 'u', data: { subject: 's', comments: [{}] } });
  // @ts-expect-error Messages must be given in one place only.
  await memory.ingest.chat({ userId: 'u', messages, data: { messages } });
  // @ts-expect-error A save needs content.
  await memory.save({ userId: 'u' }).catch((error: unknown) => error instanceof NotFoundError);
  return all;
}
`;

export const settings = [
  { moduleResolution: 'bundler', module: 'ESNext', lib: ['ES2022', 'DOM'], types: [] },
  { moduleResolution: 'node16', module: 'node16', lib: ['ES2022'], types: ['node'] },
  { moduleResolution: 'nodenext', module: 'nodenext', lib: ['ES2022', 'DOM'], types: [] },
];

export const versions = ['7.0.2', '5.9.3', '5.4.5'];

export async function compileWithAll(sdk: string): Promise<string> {
  await using project = await emptyProject();
  const compilers = versions.map((version) => `typescript-${version}@npm:typescript@${version}`);
  await project.install(sdk, ...compilers, '@types/node@20');
  const files = versions.map((version) =>
    project.file(`node_modules/typescript-${version}/bin/tsc`),
  );
  for (const setting of settings) await compileProgram(project, setting, ...files);
  const names = settings.map(({ moduleResolution }) => moduleResolution);
  return `${names.join(', ')}; strict, skipLibCheck off`;
}

/** Compiles a program that uses the installed SDK. Throws if a compiler reports an error. */
export async function compileProgram(
  project: Project,
  setting: object,
  ...compilers: string[]
): Promise<void> {
  const compilerOptions = {
    ...setting,
    target: 'ES2022',
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    skipLibCheck: false,
    // The libraries of TypeScript itself, unlike the packages.
    skipDefaultLibCheck: true,
    noEmit: true,
  };
  await project.write('program.ts', program);
  await project.write('tsconfig.json', JSON.stringify({ compilerOptions, files: ['program.ts'] }));
  await Promise.all(compilers.map((tsc) => project.run(['node', tsc, '-p', 'tsconfig.json'])));
}

if (import.meta.main) {
  await using folder = await emptyProject();
  console.log(await compileWithAll(await packSdk(folder.folder)));
}
