/* Charts are drawn on a light card, so that they look the same in light and dark themes. */

export const ink = '#334155';
export const faint = '#cbd5e1';
export const oursColour = '#2563eb';
export const otherColour = '#94a3b8';
export const palette = ['#2563eb', '#ea580c', '#16a34a', '#9333ea', '#0891b2', '#be123c'];

type Attributes = Record<string, string | number>;

export function element(name: string, attributes: Attributes, content?: string): string {
  const written = Object.entries(attributes)
    .map(([key, value]) => ` ${key}="${typeof value === 'number' ? rounded(value) : value}"`)
    .join('');
  return content === undefined ? `<${name}${written}/>` : `<${name}${written}>${content}</${name}>`;
}

export function label(x: number, y: number, text: string, more: Attributes = {}): string {
  return element('text', { x, y, fill: ink, 'font-size': 12, ...more }, escaped(text));
}

/** Returns the complete SVG, with its title at the top. */
export function card(width: number, height: number, title: string, parts: string[]): string {
  const frame = { width: width - 1, height: height - 1, x: 0.5, y: 0.5, rx: 8 };
  const content = [
    element('title', {}, escaped(title)),
    element('rect', { ...frame, fill: '#f8fafc', stroke: faint }),
    label(16, 26, title, { 'font-size': 14, 'font-weight': 600 }),
    ...parts,
  ];
  const outer = {
    xmlns: 'http://www.w3.org/2000/svg',
    viewBox: `0 0 ${width} ${height}`,
    width,
    height,
    'font-family': 'system-ui, sans-serif',
    role: 'img',
  };
  return `${element('svg', outer, `\n${content.join('\n')}\n`)}\n`;
}

function rounded(value: number): number {
  return Math.round(value * 10) / 10;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
