import { heapStats } from 'bun:jsc';
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { SearchIndex } from '../../server/search/index.ts';
import { normalize } from '../../server/search/normalize.ts';
import { parseQuery } from '../../server/search/query.ts';
import { snippet } from '../../server/search/snippet.ts';
import { anyCodePoint } from '../support/inputs.ts';
import { marked } from '../support/marked.ts';

const filler = 'nothing of note was said on that day. '.repeat(20);

describe('snippet', () => {
  test.each([
    ['cafe', 'The Café, at last', 'The «Café», at last'],
    ['1234567', 'It cost 1,234,567 in all', 'It cost «1,234,567» in all'],
    ['hike', "Ana's hiking boots", "Ana's «hiking» boots"],
    ['ana', "Ana's boots", "«Ana's» boots"],
    ['acount', 'the account', 'the «account»'],
    ['zeppel', 'two\n\nzeppelins', 'two «zeppelins»'],
    ['ERR-4711', 'see ERR-4711', 'see «ERR»-«4711»'],
    ['喝咖啡', '我喜欢喝咖啡。', '我喜欢«喝咖啡»。'],
    ['手机', '我的iPhone手机', '我的iPhone«手机»'],
    ['กุ้ง', 'ข้าวผัดกุ้ง', 'ข้าวผัด«กุ้ง»'],
    ['🚀', 'fine🚀!', 'fine«🚀»!'],
    ['👍', 'Great 👍🏽 team', 'Great «👍🏽» team'],
    ['🚀', 'an 👩‍🚀 in space', 'an «👩‍🚀» in space'],
    ['cooperation', 'our co\u00adoperation', 'our «co\u00adoperation»'],
    ['100g', '𩸽100g を注文', '𩸽«100g» を注文'],
    ['𩸽', '𩸽100g', '«𩸽»100g'],
    ['北', '𩸽北𩸽', '𩸽«北»𩸽'],
  ])('%s in %j', (query, text, marked) => expect(snippetOf(query, text)).toBe(marked));

  test('shows the part with most of the query words, cut between words', () => {
    const text = `${filler}A zeppelin alone. ${filler}The blue zeppelin landed. ${filler}`;
    const shown = snippetOf('blue zeppelin', text);
    expect(shown).toContain('The «blue» «zeppelin» landed.');
    expect(shown).toMatch(/^…\w+ .* \w+\.?…$/);
    expect(shown.length).toBeLessThan(240);
  });

  test('what it keeps of a text does not keep the text in memory', () => {
    const size = () => {
      Bun.gc(true);
      return heapStats().extraMemorySize;
    };
    const before = size();
    for (let number = 1_000; number < 1_020; number += 1) {
      for (const letter of ['q', 'ж']) {
        const rest = Buffer.alloc(500_000, ' ').toString();
        snippetOf('boots', `${letter.repeat(20)}${number}${rest}`);
      }
    }
    expect(size() - before).toBeLessThan(5_000_000);
  });

  test('is cut at the only space within 24 units, wherever that space is', () => {
    const words = `${'a'.repeat(23)} `.repeat(12);
    for (let length = 1; length <= 24; length += 1) {
      const text = `${words}${'b'.repeat(length)} tea ${'c'.repeat(length)} ${words}`;
      const shown = snippetOf('tea', text);
      const [begin, end] = [`(?:a{23} )+b{${length}}`, `c{${length}}(?: a{23})+`];
      expect(shown).toMatch(new RegExp(`^…${begin} «tea» ${end}…$`));
      expect(shown.length).toBeGreaterThan(220 - 2 * 24);
    }
  });

  test('shows two words of the query that are 220 units apart from end to end', () => {
    const between = 'a'.repeat(220 - 'blue  zeppelin'.length);
    const shown = snippetOf('blue zeppelin', `${filler}blue ${between} zeppelin ${filler}`);
    expect(shown).toBe(`…«blue» ${between} «zeppelin»…`);
  });

  test('shows a rare word of the query rather than two that are in most memories', () => {
    const text = `${filler}The green boat. ${filler}A zeppelin landed. ${filler}`;
    const others = Array.from({ length: 9 }, () => 'a green boat');
    expect(snippetOf('green boat zeppelin', text)).toContain('The «green» «boat».');
    expect(snippetOf('green boat zeppelin', text, others)).toContain('A «zeppelin» landed.');
  });

  test('shows the first of two parts that match equally', () => {
    const shown = snippetOf('zeppelin', `${filler}One zeppelin. ${filler}A zeppelin. ${filler}`);
    expect(shown).toContain('One «zeppelin».');
  });

  test.each([0, 1])('begins and ends with a whole character (%d units before them)', (units) => {
    const pairs = '𐐀'.repeat(200);
    const shown = snippetOf('tea', `${'a'.repeat(units)}${pairs} tea ${pairs}`);
    expect(shown).toMatch(/^…(?:𐐀)+ «tea» (?:𐐀)+…$/u);
    expect(shown.isWellFormed()).toBe(true);
  });

  test('is a substring of the text, with highlights in order and without overlaps', () => {
    const piece = fc.constantFrom(
      ...['tea ', 'Ana: ', 'café ', '北京', '𩸽', '𩸽1', '👩‍👩‍👧 ', '\n', 'กุ้ง', '\t\u3000'],
      ...[filler, 'x'.repeat(300), '«tea» ', 'te\u0301a\u0323 '],
    );
    const text = fc.oneof(
      fc.array(piece).map((all) => all.join('')),
      fc.string({ unit: anyCodePoint }),
    );
    fc.assert(
      fc.property(text, fc.constantFrom('tea 1', 'cafe 北京', 'ana 𩸽', 'กุ้ง'), (content, query) => {
        const plain = content.replaceAll('…', '');
        const { snippet: shown, highlights } = excerptOf(query, plain);
        expect(plain.replace(/\s+/g, ' ')).toContain(shown.replace(/^…|…$/g, '').trim());
        expect(shown.length).toBeLessThanOrEqual(222);
        expect(shown.isWellFormed()).toBe(true);
        const characters = [...shown];
        let at = 0;
        for (const { start, end } of highlights) {
          expect(start).toBeGreaterThanOrEqual(at);
          expect(end).toBeGreaterThan(start);
          expect(characters.slice(start, end).join('')).toMatch(/^[^\s«»…]+$/u);
          at = end;
        }
        expect(at).toBeLessThanOrEqual(characters.length);
      }),
    );
  });

  test('is plain text: marks in the text are not matches, and nothing matched is []', () => {
    const text = '\n «dog» 🐕 and  «oak»\n';
    const shown = '«dog» 🐕 and «oak»';
    expect(excerptOf('oak', text)).toEqual({
      snippet: shown,
      highlights: [{ start: 13, end: 16 }],
    });
    expect(excerptOf('zeppelin', text)).toEqual({ snippet: shown, highlights: [] });
  });
});

function snippetOf(query: string, text: string, others: string[] = []): string {
  return marked(excerptOf(query, text, others));
}

/** Returns the snippet of a text that a user has among others. */
function excerptOf(query: string, text: string, others: string[] = []) {
  const index = new SearchIndex();
  for (const [at, content] of [text, ...others].entries()) {
    const chunks = [{ start: 0, length: content.length, text: normalize(content) }];
    index.put({ id: `mem_${at}`, createdAt: at, chunks });
  }
  return snippet(text, index.search(parseQuery(query)));
}
