import { analyse } from '../search/analyse.ts';
const targetLength = 1_000;
const maxNameLength = 200;
const boundaries = [/\n\s*\n/g, /\n/g, /[.!?。！？]["')\]]?\s|[。！？]/g, /\s/g];
export function splitChunks(text: string): number[] {
  const out: number[] = [];
  let start = 0;
  while (start < text.length) { const end = cutAfter(text, start); out.push(end - start); start = end; }
  return out;
}
export function chunkCount(text: string): number { return splitChunks(text).length; }
export function indexedChunks(content: string, metadata: string, lengths: number[]) {
  const { title, speaker } = namesIn(metadata);
  let start = 0;
  return lengths.map((length) => {
    const at = start; start += length;
    const text = content.slice(at, at + length);
    const named = at === 0 && !text.includes(title) ? `${title}\n${text}` : text;
    return { start: at, length, text: analyse(named, speaker) };
  });
}
function namesIn(metadata: string): { title: string; speaker: string } {
  if (!/"(?:title|speaker|author|role)"/.test(metadata)) return { title: '', speaker: '' };
  const { title, speaker, author, role }: Record<string, unknown> = JSON.parse(metadata);
  const said = [speaker, author, role].find((name) => typeof name === 'string');
  return { title: typeof title === 'string' ? title : '', speaker: typeof said === 'string' && said.length <= maxNameLength ? said : '' };
}
function cutAfter(text: string, start: number): number {
  const limit = start + targetLength;
  if (limit >= text.length) return text.length;
  const half = start + targetLength / 2;
  const window = text.slice(half, limit);
  for (const boundary of boundaries) { let end = 0; for (const m of window.matchAll(boundary)) end = m.index + m[0].length; if (end > 0) return half + end; }
  const u = text.charCodeAt(limit - 1);
  return u >= 0xd800 && u <= 0xdbff ? limit - 1 : limit;
}
