import { CliError } from '../errors.ts';
import { readPieces, textArgument } from './input.ts';
import { note, type Terminal } from './terminal.ts';

/** The keys that must be handled in raw mode. */
const keys = { ctrlC: '\x03', end: '\r\n\x04', back: '\b\x7f' };

/** Reads a secret from stdin. On a terminal, the input is not echoed and ends with Enter. */
export async function readSecret(term: Terminal, question: string): Promise<string> {
  if (!term.stdin.isTerminal) return textArgument(term, '-');
  await term.stderr.write(question);
  term.stdin.setRaw(true);
  try {
    let typed = '';
    for await (const piece of readPieces(term, '-')) {
      for (const key of new TextDecoder().decode(piece)) {
        if (key === keys.ctrlC) throw new CliError('interrupted', 'Interrupted.', undefined, 130);
        if (keys.end.includes(key)) return typed;
        typed = keys.back.includes(key) ? typed.slice(0, -1) : typed + key;
      }
    }
    return typed;
  } finally {
    term.stdin.setRaw(false);
    await note(term, '');
  }
}

export async function confirm(term: Terminal, question: string): Promise<boolean> {
  await term.stderr.write(`${question} [y/N] `);
  let answer = '';
  for await (const piece of readPieces(term, '-')) {
    answer += new TextDecoder().decode(piece);
    if (answer.includes('\n')) break;
  }
  return /^\s*y(es)?\s*$/i.test(answer);
}
