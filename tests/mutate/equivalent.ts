import type { Node } from 'typescript/unstable/ast';
import * as is from 'typescript/unstable/ast/is';
import { lineOf } from '../tidy/source.ts';

/*
 * Equivalent mutants have no observable effect, so no test can detect them. Rules exclude those of
 * one kind. A comment excludes one mutation operator on its own line or on the next line of code:
 *
 *   // mutate-ignore boundary: the names of an object differ
 */

/** A range of a file's text, and the text that replaces it. */
export type Mutation = { start: number; end: number; text: string };

/** A mutation of a syntax node. `ancestors` begins with the file. */
export type Found = Mutation & { operator: string; node: Node; ancestors: Node[] };

type Rule = (found: Found, textOf: (node: Node) => string) => boolean;

const clock = /\b(?:performance|Date)\.now\(\)|\b(?:clock|statement)_timestamp\(\)/;
const tuned =
  /(?:Ms|Seconds|Bytes|KiB|Units|Rows|AtOnce|Per(?:Batch|Part|Run)|Share|Pages|Weights)$|^maxCached|^pauseFactor$/;
const measured = /(?:Ms|Seconds|Units|Share|Pages)$/;
const scheduling = /^(?:await )?(?:yieldToEventLoop|Bun\.gc)\(/;
const freeing = /^(?:Bun\.gc|Bun\.sleep(?:Sync)?|\w+\??\.close)\(/;

/**
 * A time, a size or a share at the top level of a module affects only timing and cost, and so does
 * the amount of work in one step. A weight is measured by tests/eval. The values that clients rely
 * on are in sdk/contract/limits.ts.
 */
const isTuning: Rule = ({ operator, ancestors }, textOf) => {
  const [, , , declaration] = ancestors;
  const isConstant = declaration !== undefined && is.isVariableDeclaration(declaration);
  return operator === 'constant' && isConstant && tuned.test(textOf(declaration.name));
};

/** What was measured equals a limit only by chance, and a tuned limit is as good by one more. */
const isExactLimit: Rule = ({ operator, node, start, text, ancestors: [file = node] }, textOf) => {
  if (operator === 'sql') {
    const [condition = ''] = textOf(node)
      .slice(start - node.getStart())
      .split(/\b(?:AND|OR)\b|\n/);
    const [, limit = ''] =
      /^[<>]=? \$\{(\w+)\}/.exec(textOf(file).slice(start - file.getStart())) ?? [];
    return /^[<>]/.test(text) && (clock.test(condition) || isTuned(limit, textOf(file)));
  }
  if (operator !== 'boundary' || !is.isBinaryExpression(node)) return false;
  return [node.left, node.right]
    .map(textOf)
    .some((side) => clock.test(side) || measured.test(side) || isTuned(side, textOf(file)));
};

/** Whether the name is that of a tuned value at the top level of this module or another one. */
function isTuned(name: string, file: string): boolean {
  const declared = new RegExp(`^(?:export )?const ${name} =|^import \\{[^}]*\\b${name}\\b`, 'm');
  return /^\w+$/.test(name) && tuned.test(name) && declared.test(file);
}

/** Examples are only shown in the OpenAPI document. */
const isExample: Rule = ({ operator, ancestors }, textOf) =>
  /constant|boolean/.test(operator) &&
  ancestors.some((one) => {
    const isNamed = is.isPropertyAssignment(one) || is.isVariableDeclaration(one);
    return isNamed && /^examples?/.test(textOf(one.name));
  });

/** Such calls affect only when other work runs, and when memory and files are freed. */
const isScheduling: Rule = ({ operator, node, ancestors }, textOf) => {
  if (operator === 'removal') return scheduling.test(textOf(node));
  const call = ancestors.at(-1);
  const isArgument = /boolean|constant/.test(operator) && call !== undefined;
  return isArgument && is.isCallExpression(call) && freeing.test(textOf(call));
};

/** A page is the same, however many more rows than its limit are read. */
const isOneMore: Rule = ({ operator, ancestors }, textOf) => {
  const sum = ancestors.at(-1);
  return operator === 'constant' && sum !== undefined && textOf(sum) === 'limit + 1';
};

const rules: Rule[] = [isTuning, isExactLimit, isExample, isScheduling, isOneMore];

/** `line` is the line of the comment, and `covers` the line of code that it excludes. */
export type Comment = { line: number; covers: number; operator: string };

export function commentsOf(text: string): Comment[] {
  const lines = text.split('\n');
  return lines.flatMap((one, index) => {
    const [, code = '', operator = ''] = /^(.*)\/\/ mutate-ignore (\w+): \S/.exec(one) ?? [];
    if (operator === '') return [];
    const next = lines.findIndex((other, at) => at > index && !other.trim().startsWith('//'));
    return [{ line: index + 1, covers: (code.trim() === '' ? next : index) + 1, operator }];
  });
}

export function isEquivalent(found: Found, text: string, comments: Comment[]): boolean {
  const textOf = (node: Node) => text.slice(node.getStart(), node.end);
  const isExcluded = comments.some((comment) => excludes(comment, found, text));
  return isExcluded || rules.some((rule) => rule(found, textOf));
}

function excludes({ covers, operator }: Comment, found: Found, text: string): boolean {
  return found.operator === operator && lineOf(text, found.start) === covers;
}

/** Returns the lines of the comments that exclude no mutation. */
export function unusedComments(text: string, found: Found[]): number[] {
  return commentsOf(text)
    .filter((comment) => !found.some((one) => excludes(comment, one, text)))
    .map(({ line }) => line);
}
