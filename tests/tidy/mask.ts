/** Two views of a file with parts blanked. Each line keeps its length. */
export type Masked = {
  /** Comments and the contents of strings are blanked. */
  code: string;
  /** Only the contents of strings are blanked. */
  prose: string;
};

export function masked(text: string): Masked {
  const scan: Scan = { text, at: 0, code: '', prose: '', open: [] };
  while (scan.at < text.length) {
    const dull = read(scan, plain);
    if (dull !== null) put(scan, dull, dull, dull);
    const remark = read(scan, comment);
    const string = read(scan, quoted) ?? readRegex(scan);
    if (remark !== null) put(scan, remark, blank(remark), remark);
    else if (string !== null) put(scan, string, edges(string, 1), edges(string, 1));
    else putOther(scan);
  }
  return { code: scan.code, prose: scan.prose };
}

type Scan = Masked & {
  text: string;
  at: number;
  /** The number of open braces in each enclosing `${`. */
  open: number[];
};

/** Text without special characters, consumed in one step for speed. */
const plain = /[^'"`/{}]+/y;
const comment = /\/\/[^\n]*|\/\*[\s\S]*?\*\//y;
const quoted = /'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"/y;
const template = /(?:\\[\s\S]|\$(?!\{)|[^`\\$])*(?:`|\$\{)/y;
const regex = /\/(?![*/])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\/[a-z]*/y;
/** Matches code after which a slash begins a regular expression rather than a division. */
const beforeRegex = /(?:^|[(,=:[!&|?{};+\-*%~^<>]|\breturn|\btypeof|\bcase|\bof|\bin)\s*$/;

function read(scan: Scan, pattern: RegExp): string | null {
  pattern.lastIndex = scan.at;
  return pattern.exec(scan.text)?.[0] ?? null;
}

function readRegex(scan: Scan): string | null {
  return beforeRegex.test(scan.code.slice(-200)) ? read(scan, regex) : null;
}

function put(scan: Scan, token: string, code: string, prose: string): void {
  scan.code += code;
  scan.prose += prose;
  scan.at += token.length;
}

function putOther(scan: Scan): void {
  const char = scan.text.charAt(scan.at);
  put(scan, char, char, char);
  const inner = scan.open.pop();
  // The brace that closes a `${` resumes the template.
  const closes = char === '}' && inner === 0;
  if (inner !== undefined && !closes) {
    scan.open.push(inner + (char === '{' ? 1 : char === '}' ? -1 : 0));
  }
  if (char === '`' || closes) putTemplate(scan);
}

/** Blanks the text of a template up to its end or to the next `${`. */
function putTemplate(scan: Scan): void {
  const token = read(scan, template) ?? scan.text.slice(scan.at);
  if (token.endsWith('${')) scan.open.push(0);
  put(scan, token, edges(token, 0), edges(token, 0));
}

function blank(text: string): string {
  return text.replace(/[^\n]/g, ' ');
}

/** Blanks a token except for its first `begin` characters and its last character or final `${`. */
function edges(token: string, begin: number): string {
  const end = token.endsWith('${') ? 2 : 1;
  return token.slice(0, begin) + blank(token.slice(begin, -end)) + token.slice(-end);
}
