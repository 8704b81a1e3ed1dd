import { describe, expect, test } from 'bun:test';
import { getMemory, ingest, newUser } from '../support/http.ts';
import { withProject } from '../support/server.ts';

const server = await withProject();

const role = 'assistant';
const call = { name: 'search', arguments: '{}' };
const tool_calls = [{ id: 'call_1', type: 'function', function: call }];
const called = 'assistant: [tool call: search]';
const manyCalls = [...tool_calls, { custom: { name: 'shell' } }, { name: 'lookup' }, { id: 'c' }];
const image = { type: 'image_url', image_url: { url: 'https://a.example/i.png' } };
const optional = ['role', 'author', 'timestamp', 'tool_calls', 'tool_call_id', 'name'];
const nulls = optional.map((name) => [name, null]);
const ofAnthropic = {
  id: 'msg_1',
  type: 'message',
  role,
  model: 'claude-sonnet-4-5',
  content: [{ type: 'text', text: 'Hi', citations: null }],
  container: null,
  stop_details: null,
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 8, output_tokens: 2, server_tool_use: null },
};

const url_citation = { url: 'https://a.example' };
const ofOpenAi = {
  ...{ role, content: 'Hello!', refusal: null, audio: null, function_call: null, tool_calls: null },
  annotations: [{ type: 'url_citation', url_citation }],
};
const one = { type: 'text', text: 'one' };
const two = { type: 'output_text', text: 'two' };
const noText = [{ type: 'text', text: '' }, image, { type: 'text' }];
const use = [{ type: 'tool_use', id: 't', name: 'search', input: {} }];
const calledAll = ['search', 'shell', 'lookup', 'unknown'].map((name) => `\n[tool call: ${name}]`);

const hi = { role, content: 'Hi' };
const time = '2019-05-08T13:56:07.250Z';
const forms: [name: string, message: object, content: string][] = [
  ['of an author with a role', { ...hi, author: 'Ana' }, 'Ana: Hi'],
  ['of an empty author', { ...hi, author: '', name: 'Ana' }, 'assistant: Hi'],
  ['of nobody', { author: '', role: '', name: 'Ana', content: 'Hi' }, 'unknown: Hi'],
  ['of an empty name', { ...hi, name: '', tool_call_id: '' }, 'assistant: Hi'],
  ['dated by the millisecond', { ...hi, timestamp: time }, `[${time}] assistant: Hi`],
  ['of 1970', { ...hi, timestamp: 0 }, '[1970-01-01T00:00:00Z] assistant: Hi'],
  ['of 1969', { ...hi, timestamp: -1 }, '[1969-12-31T23:59:59.999Z] assistant: Hi'],
  ['several parts', { role, content: [one, image, two] }, 'assistant: one\n[image_url]\ntwo'],
  ['parts without text', { role, content: noText }, 'assistant: [image_url]'],
  [
    'a text with tool calls of any form',
    { role, content: 'Wait.', tool_calls: manyCalls },
    `assistant: Wait.${calledAll.join('')}`,
  ],
  ["OpenAI's reply", { ...hi, refusal: null, annotations: [] }, 'assistant: Hi'],
  ["a reply from OpenAI's Python client", ofOpenAi, 'assistant: Hello!'],
  ['a refusal', { role, content: null, refusal: 'I cannot.' }, 'assistant: I cannot.'],
  ['a refusal without content', { role, refusal: 'I cannot.' }, 'assistant: I cannot.'],
  ['a refusal next to content', { role, content: 'No.', refusal: 'I cannot.' }, 'assistant: No.'],
  ['a spoken reply', { ...hi, audio: { id: 'a', data: 'UklG' } }, 'assistant: Hi'],
  ['a function call', { role, content: null, function_call: call }, called],
  ['a function result', { role: 'function', name: 'search', content: 'x' }, 'function: x'],
  ['tool calls without content', { role, tool_calls }, called],
  ['null in every optional field', { ...Object.fromEntries(nulls), content: 'Hi' }, 'unknown: Hi'],
  ["Anthropic's reply", ofAnthropic, 'assistant: Hi'],
  ["Anthropic's tool call", { ...ofAnthropic, content: use }, 'assistant: [tool_use]'],
];

/** Ingests a record, and returns the content of its memory. */
async function contentOf(path: string, fields: object): Promise<string> {
  const { memoryId } = await ingest(server, path, { userId: newUser(), ...fields });
  return (await getMemory(server, memoryId)).content;
}

const type = 'conversation';
const endpoints: [name: string, ingest: (data: object) => Promise<string>][] = [
  ['a chat', (data) => contentOf('/v1/ingest/chat', { data })],
  ['a conversation', (data) => contentOf('/v1/ingest', { type, data })],
  ['a batch', (data) => contentOf('/v1/ingest/batch', { type, data })],
];

describe.each(endpoints)('a message in %s', (_, ingest) => {
  const send = (messages: object[], more = {}) => ingest({ messages, ...more });

  test.each(forms)('may be %s', async (_, message, content) => {
    expect(await send([message])).toBe(content);
  });

  test('is skipped if it has no text', async () => {
    const contents = [undefined, null, ' \n', [], [{ type: 'text', text: '' }]];
    const empty = contents.map((content) => ({ role, content }));
    const refused = { role, refusal: '', tool_calls: [] };
    const spoken = { role, audio: { id: 'a' } };
    expect(await send([...empty, refused, { role, content: 'Hi' }, spoken])).toBe('assistant: Hi');
  });

  test('is not required if there is a title or a summary', async () => {
    expect(await send([], { title: 'T' })).toBe('T');
    expect(await send([], { summary: 'S' })).toBe('S');
    expect(await send([{ content: '' }], { title: 'T' })).toBe('T');
  });
});

test('top-level messages may have the same forms', async () => {
  const content = await contentOf('/v1/ingest/chat', { messages: forms.map(([, form]) => form) });
  expect(content).toBe(forms.map(([, , rendered]) => rendered).join('\n'));
});
