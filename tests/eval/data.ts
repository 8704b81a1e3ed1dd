import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * One turn of a conversation; `session` groups the turns of one conversation. `role` is `user` or
 * `assistant`, and `at` is when the turn was said.
 */
export type Turn = { id: string; session: string; text: string; role?: string; at?: string };

export type Question = {
  kind: string;
  evidence: string[];
  text: string;
  user: string;
  /** The time to which a question such as "what did I say last week?" refers. */
  askedAt?: string | undefined;
  /** The half of the question, if its file decides it. */
  heldOut?: boolean;
};

/** One user's memories and the questions about them. */
export type User = { name: string; turns: Turn[]; questions: Question[] };

const folder = join(import.meta.dir, 'conversations');

/** Reads the project's own conversations as the memories of one user. */
export function readConversations(): User {
  const user: User = { name: 'conversations', turns: [], questions: [] };
  for (const file of readdirSync(folder)
    .filter((name) => name.endsWith('.txt'))
    .sort()) {
    readConversation(user, file.slice(0, -'.txt'.length), readFileSync(join(folder, file), 'utf8'));
  }
  return user;
}

/** Reads the support dialogues in `tickets.jsonl` as one user's memories, one per turn. */
export function readTickets(folder: string): User {
  const user: User = { name: 'tickets', turns: [], questions: [] };
  for (const line of readFileSync(join(folder, 'tickets.jsonl'), 'utf8').trim().split('\n')) {
    const { externalId, data } = JSON.parse(line);
    for (const [index, { author, content }] of data.comments.entries()) {
      const text = `${author}: ${content}`;
      user.turns.push({ id: `${externalId}:${index}`, session: externalId, text });
    }
  }
  user.questions = readQuestions('tickets', (tag) => tag);
  return user;
}

/** Reads the long documents in the folder `documents` as one user's memories. */
export function readDocuments(folder: string): User {
  const user: User = { name: 'documents', turns: [], questions: [] };
  for (const file of readdirSync(join(folder, 'documents')).sort()) {
    const text = readFileSync(join(folder, 'documents', file), 'utf8');
    user.turns.push({ id: file, session: file, text });
  }
  user.questions = readQuestions('documents', (tag) => tag);
  return user;
}

/**
 * Reads the files in the folder `paragraphs`, each in SQuAD format and named after its language.
 * A file's paragraphs are one user's memories, with the questions that they answer.
 */
export function readParagraphs(folder: string): User[] {
  const files = existsSync(join(folder, 'paragraphs'))
    ? readdirSync(join(folder, 'paragraphs')).sort()
    : [];
  return files.map((file) => {
    const user: User = { name: file.replace('.json', ''), turns: [], questions: [] };
    const { data } = JSON.parse(readFileSync(join(folder, 'paragraphs', file), 'utf8'));
    for (const { paragraphs } of data) {
      for (const { context, qas } of paragraphs) {
        const id = `${user.turns.length}`;
        user.turns.push({ id, session: id, text: context });
        for (const { question } of qas) {
          const asked = { kind: 'paragraph', evidence: [id], text: question, user: user.name };
          user.questions.push(asked);
        }
      }
    }
    return user;
  });
}

/** Merges the turns of each session into one memory. */
export function bySession(user: User): User {
  const sessions = new Map<string, string[]>();
  for (const { session, text } of user.turns) {
    sessions.set(session, [...(sessions.get(session) ?? []), text]);
  }
  const turns = [...sessions].map(([id, texts]) => ({ id, session: id, text: texts.join('\n') }));
  const sessionOf = new Map(user.turns.map((turn) => [turn.id, turn.session]));
  const questions = user.questions.map((question) => ({
    ...question,
    evidence: [...new Set(question.evidence.map((id) => sessionOf.get(id) ?? id))],
  }));
  return { name: `${user.name} by session`, turns, questions };
}

/**
 * Returns whether the question is in the held-out half. A hash of its text selects the half, unless
 * its file does.
 */
export function isHeldOut({ heldOut, text }: Question): boolean {
  return heldOut ?? Bun.hash(text) % 2n === 1n;
}

/** Adds the turns and questions of a file to the user. Their ids begin with `name`. */
export function readConversation(user: User, name: string, text: string): void {
  let session = '';
  for (const [index, line] of text.split('\n').entries()) {
    if (line.startsWith('## ')) session = `${name} ${line.slice(3)}`;
    else if (line.startsWith('?? ')) user.questions.push(readQuestion(line, name, tagged(name)));
    else if (line !== '') {
      const [, tag, content] = /^(?:\[(\w+)\] )?(.*)$/.exec(line) ?? [];
      user.turns.push({ id: `${name}:${tag ?? `#${index}`}`, session, text: content ?? '' });
    }
  }
}

function tagged(name: string): (tag: string) => string {
  return (tag) => `${name}:${tag}`;
}

function readQuestions(name: string, idOf: (tag: string) => string): Question[] {
  const lines = readFileSync(join(folder, `${name}.questions`), 'utf8')
    .trim()
    .split('\n');
  return lines.map((line) => readQuestion(line, name, idOf));
}

/** Reads a line such as `?? kind | tag,tag | question | time of asking`. The time is optional. */
export function readQuestion(line: string, user: string, idOf: (tag: string) => string): Question {
  const [kind = '', tags = '', text = '', askedAt] = line.slice('?? '.length).split(' | ');
  return { kind, evidence: tags.split(',').map(idOf), text, user, askedAt };
}
