import { describe, expect, test } from 'bun:test';
import { chunksOf, indexedChunks } from '../../server/memory/chunks.ts';

/** Returns the text that the search index stores for each chunk. */
function indexed(content: string, metadata: object = {}): string[] {
  return indexedChunks(content, JSON.stringify(metadata)).map(({ text }) => text);
}

/** Returns the lines that name a speaker: in an indexed text, only these contain a colon. */
function labels(content: string, metadata: object = {}): string[] {
  const lines = indexed(content, metadata).flatMap((text) => text.split('\n'));
  return lines.filter((line) => line.includes(':')).map((line) => line.split(':')[0] ?? '');
}

/** Describes each chunk: who sent it, whether it begins its message, and how its text begins. */
function senders(content: string, metadata: object = {}): string[] {
  return chunksOf(content, JSON.stringify(metadata)).map(({ start, sender, isFirst }) => {
    return `${sender ?? 'nobody'} ${isFirst ? 'first' : 'later'} ${content.slice(start, start + 8)}`;
  });
}

const yaml = 'firing:\n  target: 1000\n  hold: 60\nkiln: small\n  target: 900\n  hold: 30';
const transcript = 'Ana: Are you in?\nBen: Yes.\nAna: At six?\nBen: At seven.';
const long = 'A sentence of a long answer. '.repeat(60);

describe('a label', () => {
  test.each([
    ['Example: two mugs\nExample: two cups\nthen\nthen\nthen', ['example']],
    ['Start with the glaze.\nStep 1: mix\nStep 2: sieve\nStep 3: dip', []],
    ['Mind this.\n**Note:** dry\n**Note:** wet\n**Tip:** a\n**Tip:** b', []],
    ['Mind this.\n- Tip: dry\n- Note: wet\n- Tip: dry\n- Note: wet', []],
    [yaml, []],
    ['Like this.\n  Ana: a\n  Ben: b\n  Ana: c\n  Ben: d', []],
    [transcript, ['ana', 'ben', 'ana', 'ben']],
    [`Our talk\n\n${transcript}`, ['ana', 'ben', 'ana', 'ben']],
    ['Ana: hello\nI moved.', ['ana']],
    ['Ai: hello', ['ai']],
    ['[10:00] Ann: hello', ['ann']],
    ['{"text": "I moved."}', []],
    ['[10:00] {"text": "I moved."}', []],
    ['**Note**: dry', []],
    ['- Tip: dry', []],
    ['1. Tip: dry', []],
    ['  Ana: hello', []],
    ['Ai: hello\nBo: hi\nAi: well?\nBo: well.', ['ai', 'bo', 'ai', 'bo']],
    ['[8 May, 13:56] Ana: a\n[8 May, 13:57] Bo: b\n'.repeat(2), ['ana', 'bo', 'ana', 'bo']],
    ['2024-05-08 13:56 Ana: a\n2024-05-08 13:57 Bo: b\n'.repeat(2), ['ana', 'bo', 'ana', 'bo']],
    [`This is a scene:\n${transcript}\n${'A line about it.\n'.repeat(9)}`, []],
    ['user: My order?\nagent: Sent.\nuser: When?\nagent: Today.', ['agent', 'agent']],
  ])('of %j names %j', (content, names) => expect(labels(content)).toEqual(names));

  test('is in the title, the role or the first line of a message only as text', () => {
    expect(labels('I moved.', { title: 'Plan: move', role: 'user' })).toEqual([]);
    expect(indexed('I moved.', { role: 'manager' })).toEqual(['i moved']);
    expect(labels('Note: glaze it', { role: 'assistant' })).toEqual([]);
    expect(labels('I moved.', { speaker: 'Ana', role: 'user' })).toEqual(['ana']);
    expect(indexed('I moved.', { author: 'assistant' })).toEqual(['i moved']);
  });

  test('may begin with any character if it is the author', () => {
    expect(labels('I moved.', { author: '@ana' })).toEqual(['ana']);
    expect(labels('+49 17: I moved.\nTo Bern.', { author: '+49 17' })).toEqual(['49 17']);
  });

  test('does not contain a role, which stays a word outside of chats', () => {
    expect(indexed('user: I moved.\nassistant: Where?')).toEqual(['i moved', 'where']);
    const dated = '[2024-05-08T13:56:00Z] user: I moved.';
    expect(indexed(dated)).toEqual(['2024 05 08t13 56 00z i moved']);
    expect(indexed('Tool: hammer')).toEqual(['tool hammer']);
    expect(indexed('System: a PC\nMemory: 32 GB')).toEqual(['system a pc\nmemory 32 gb']);
  });
});

describe('a chat', () => {
  test('has a chunk for each short message, and knows the first chunk of a reply', () => {
    const chat = `user: How?\nassistant: ${long}\nuser: And then?\nassistant: Wait.`;
    const [reply, question] = ['model first assistan', 'user first user: '];
    const whole = [`${question}Ho`, reply, 'model later A senten', `${question}An`, reply];
    expect(senders(chat)).toEqual(whole);
  });

  test.each([
    ['a title and a summary', 'Plan\n\nAbout the move.\n\nuser: How?\nassistant: So.', 3],
    ['times', '[2024-05-08T13:56:00Z] user: How?\n[2024-05-08T13:57:00Z] assistant: So.', 2],
    ['results of tools', 'user: How?\ntool: {"a":1}\nassistant: So.', 3],
    ['names in capitals', 'User: How?\nAssistant: So.', 2],
  ])('may have %s', (_, chat, chunks) => expect(chunksOf(chat, '{}')).toHaveLength(chunks));

  test('keeps a dialogue of another form inside its message', () => {
    const script = 'User: Hi\nAssistant: Hello\n';
    const chat = `user: Write one.\nassistant: Here.\n${script}`;
    expect(chunksOf(chat, '{}')).toHaveLength(2);
    const time = '[2024-05-08T13:56:00Z]';
    const quoted = script.toLowerCase();
    const dated = `${time} user: Write.\n${time} assistant: So.\n${quoted}`;
    expect(chunksOf(dated, '{}')).toHaveLength(2);
    const reply = senders(`Here it is.\n${script}`, { role: 'assistant' });
    expect(reply.filter((one) => one.startsWith('model first'))).toHaveLength(1);
    expect(reply.every((one) => one.startsWith('model'))).toBe(true);
  });

  test('is not a talk between people', () => {
    for (const talk of ['user: My order?\nagent: Sent.\nuser: When?\nagent: Today.', transcript]) {
      expect(senders(talk)).toEqual([`nobody first ${talk.slice(0, 8)}`]);
    }
  });

  test('can be a memory for each message', () => {
    const parts = ['model first A senten', 'model later A senten'];
    expect(senders(long, { role: 'assistant' })).toEqual(parts);
    expect(senders('How?', { role: 'user' })).toEqual(['user first How?']);
    expect(senders('assistant: So.')).toEqual(['model first assistan']);
  });

  test.each(['user: ', 'user: \n', 'user: a\nassistant: b\n', 'Ana: a\nBo: b\n', '[[[[ '])(
    'of a million characters of %j is indexed in linear time',
    (unit) => {
      const text = unit.repeat(Math.ceil(1_000_000 / unit.length));
      // Quadratic indexing would take minutes.
      expect(indexedChunks(text, '{}').length).toBeGreaterThan(0);
    },
  );
});
