import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { readHtml } from '../../cli/documents/html.ts';
import { memory } from './command.ts';

async function read(stdin: string): Promise<{ text: string; title?: string }> {
  const argv = ['ingest', 'document', '--user', 'u', '-', '--mime-type', 'text/html'];
  const { stdout } = await memory([...argv, '--dry-run', '--json'], { stdin });
  return JSON.parse(stdout.split('\n')[0] ?? '').data;
}

const xml = '<?xml version="1.0"?>';
const selfClosing = `${xml}<head><script src="a>b.js" /><title>T</title></head>`;

test.each([
  ['a&nbsp;b &eacute;&lt;p&gt; &#8212;&#x41; &#27700; &notin;', 'a b é<p> —A 水 ∉'],
  ['&#128; &copy 1 &bogus; A&B ?a=1&copyx', '€ © 1 &bogus; A&B ?a=1&copyx'],
  ['a&#0;&#xD800;&#9999999;', 'a\ufffd\ufffd\ufffd'],
  ['&amp;lt;b&amp;gt;', '&lt;b&gt;'],
  [' a\n  b <b> c</b>d<i> e</i> ', 'a b cd e'],
  ['<h1>T</h1><p>a<p>b</p>c<section>d</section>', 'T\n\na\n\nb\n\nc\n\nd'],
  ['<div>a</div><div><br></div><div>b<br>c</div>', 'a\n\nb\nc'],
  ['see <a href="/x">the <b>page</b></a><img src=x>.', 'see the page.'],
  ['a<script>"<p>x</p>"</script><style>x</style><!-- x -->b', 'ab'],
  ['a<template><p>x</template><noscript>x</noscript><svg><title>x</svg>b', 'ab'],
  ['<p>a<ul><li>b<ul><li>c<li><p>d</p></ul><li>e</ul>f', 'a\n\n- b\n  - c\n  - d\n- e\n\nf'],
  ['<ol><li>a<li>b</ol>', '1. a\n2. b'],
  ['<table><tr><th>a<th>b<tr><td><p>c</p><td>d <b>e</b></table>f', 'a | b\nc | d e\n\nf'],
  ['<table><tr><td><td>a<tr><td>b<td><td>c<tr><td></table>', '| a\nb | | c'],
  ['<pre>\n  a\n    b &lt;c&gt;\n\n</pre>d', '  a\n    b <c>\n\nd'],
  ['<pre>a</pre>d<pre><b>e</b>\n\n\nf</pre>', 'a\n\nd\n\ne\n\n\nf'],
  ['<pre><b>a</b> <b>b</b>\n<i> </i><b>c</b>\n\n</pre><p>d', 'a b\n c\n\nd'],
  ['<TITLE>T</TITLE><P>a<SCRIPT>x</SCRIPT><P>b<TABLE><TR><TD>c<TD>d</TABLE>', 'a\n\nb\n\nc | d'],
  ['<p>a</p><svg class="i"/><p>b</p><svg><svg/><path/>x</svg>c<script/>x', 'a\n\nb\n\nc'],
  [`${selfClosing}<body><p>a<canvas/></p><iframe src='x'/><p>b</p></body>`, 'a\n\nb'],
  [`${xml}<p><![CDATA[a <b> &amp;]]> c</p><script>//<![CDATA[\nx//]]></script>`, 'a <b> &amp; c'],
  [`${xml}<p>a</p><!-- <![CDATA[ old --><p>b</p>`, 'a\n\nb'],
  [`${xml}<p>a <![CDATA[b`, 'a b'],
  ['<table><tr><td>a<td><ul><li><li>b<li>c</ul><td>d</table>', 'a | - b\n- c | d'],
  ['<ul><li><table><tr><td>a<td>b<tr><td>c</table><li>d</ul>', '- a | b\nc\n- d'],
  ['<p>1 < 2 && 3 > 2</p>', '1 < 2 && 3 > 2'],
  ['<ul><li>a<p>b<a href="', '- a\n\nb'],
  ['<div>a </div>\n<div>\nb\n</div>\nc', 'a\nb\nc'],
  ['<table><tr><td>a<td></table>b', 'a\n\nb'],
  ['<ul><li>a<li></ul>b', '- a\n\nb'],
  ['<table><tr><td>a<td><tr><td>b<td>c</table>', 'a\nb | c'],
  ['<ul><li>a<li><pre>\n\n</pre></ul>b', '- a\n\nb'],
  ['<table><td><p>a</p><td>b</table>', 'a | b'],
])('%j is read as %j', async (html, text) => {
  expect((await read(html)).text).toBe(text);
});

test('the document title is the page title', async () => {
  const page = '<head><title> A &amp;\n B </title></head><body><svg><title>x</title></svg>c';
  expect(await read(page)).toMatchObject({ title: 'A & B', text: 'c' });
  expect(await read(`${selfClosing}c`)).toMatchObject({ title: 'T' });
  expect(await read('<p>no title')).not.toHaveProperty('title');
});

describe('any page', () => {
  const block = fc.constantFrom('p', 'div', 'ul', 'li', 'ol', 'table', 'tr', 'td', 'pre', 'h1');
  const inline = fc.constantFrom('b', 'a', 'span', 'em', 'blockquote', 'dd', 'center');
  const hidden = fc.constantFrom('script', 'style', 'template', 'noscript', 'iframe');
  const word = fc
    .stringMatching(/^[a-z]{1,5}$/)
    .map((text) => ({ html: ` ${text} `, words: [text] }));
  const { page } = fc.letrec<{ page: { html: string; words: string[] } }>((tie) => ({
    page: fc.oneof(
      { maxDepth: 5, withCrossShrink: true },
      word,
      hidden.map((tag) => ({ html: `<${tag}>SECRET</${tag}>`, words: [] })),
      fc
        .tuple(fc.oneof(block, inline), fc.array(tie('page'), { maxLength: 5 }), fc.boolean())
        .map(([tag, inside, ends]) => ({
          html: `<${tag}>${inside.map(({ html }) => html).join('')}${ends ? `</${tag}>` : ''}`,
          words: inside.flatMap(({ words }) => words),
        })),
    ),
  }));

  test('keeps all words in order, and drops tags and scripts', () => {
    fc.assert(
      fc.property(page, ({ html, words }) => {
        const { text } = readHtml(html);
        expect<string[]>(text.match(/[a-z]+/g) ?? []).toEqual(words);
        expect(text).not.toMatch(/SECRET|[<>]/);
      }),
    );
  });

  test('is read without an error, even if it is malformed', () => {
    const marks = '< > </ <!-- --> <![CDATA[ & &# ; " = /'.split(' ');
    const tags = '<p> <pre> </ul> <li> <table> <td> </tr> <svg> <select>'.split(' ');
    const raw = '<script> <xmp> <textarea> <title> <plaintext> <template> </title>'.split(' ');
    const unit = fc.oneof(fc.constantFrom('\r\n', ...marks, ...tags, ...raw), fc.string());
    fc.assert(
      fc.property(fc.array(unit, { maxLength: 40 }), (parts) => {
        const { text } = readHtml(parts.join(''));
        expect(text.isWellFormed()).toBe(true);
        expect(text).toBe(text.trimEnd());
      }),
    );
  });

  /** Measures CPU time, because other processes may slow the test down. */
  function readFast(page: string): string {
    const before = process.cpuUsage();
    const { text } = readHtml(page);
    expect(process.cpuUsage(before).user / 1_000).toBeLessThan(750);
    return text;
  }

  test.each(['div', 'ul', 'pre', 'canvas', 'b'])('is read in linear time: nested %s', (name) => {
    const open = `<${name}>`.repeat(50_000);
    const deep = `a${open}<script>no</script>${open.replaceAll('<', '</')}b`;
    expect(readFast(deep).replace(/\s/g, '')).toBe('ab');
  });

  const pieces = ['\n', ' ', '&', '<div><b>', '<ul><li>', '<table><tr><td>', '<pre>\n', '<br>'];
  test.each(pieces)('is read in linear time: 250,000 characters of %j', (piece) => {
    expect(readFast(`<pre>a${piece.repeat(250_000 / piece.length)}b`).at(-1)).toBe('b');
  });

  test('is read in linear time: 50,000 empty cells and 50,000 empty items', () => {
    expect(readFast(`${'<td>'.repeat(50_000)}${'<li>'.repeat(50_000)}b`)).toEndWith('| - b');
  });
});
