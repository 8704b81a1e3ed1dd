import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  bySession,
  readConversation,
  readConversations,
  readDocuments,
  readParagraphs,
  readQuestion,
  readTickets,
  type Turn,
  type User,
} from './data.ts';

/** How turns become memories: each is saved, ten are ingested as a chat, or each as a document. */
export type Way = 'save' | 'chat' | 'document';

export type DataSet = { name: string; way: Way; users: User[] };

/** Reads all data sets. Without `folder`, these are the project's own. */
export function readSets(folder: string | undefined): DataSet[] {
  const conversations = readConversations();
  const chats = readChats();
  const paraphrases = readUsers('paraphrases', addMemories);
  const exact = readUsers('exact', addMemories);
  return [
    { name: 'conversations', way: 'save', users: [conversations] },
    { name: 'conversations by session', way: 'save', users: [bySession(conversations)] },
    { name: 'AI chats, one memory per message', way: 'save', users: [chats] },
    { name: 'AI chats, ingested', way: 'chat', users: [chats] },
    { name: 'AI chats, without roles and times', way: 'save', users: [textAlone(chats)] },
    { name: 'dated questions', way: 'save', users: readUsers('dated', addDated) },
    { name: 'paraphrases', way: 'save', users: paraphrases },
    {
      name: 'one user',
      way: 'save',
      users: [together({ paraphrases, exact, chats: [chats], conversations: [conversations] })],
    },
    { name: 'exact', way: 'save', users: exact },
    { name: 'notes', way: 'save', users: readUsers('notes', addMemories) },
    ...(folder === undefined ? [] : readFolder(folder)),
  ];
}

function readFolder(folder: string): DataSet[] {
  const tickets = readTickets(folder);
  const paragraphs = readParagraphs(folder);
  return [
    { name: 'tickets', way: 'save', users: [tickets] },
    { name: 'tickets by session', way: 'save', users: [bySession(tickets)] },
    { name: 'documents', way: 'document', users: [readDocuments(folder)] },
    ...paragraphs.map(
      (user): DataSet => ({ name: `paragraphs, ${user.name}`, way: 'save', users: [user] }),
    ),
    ...acrossLanguages(paragraphs),
  ];
}

/** Asks the questions of all other languages about the English paragraphs, in the same order. */
function acrossLanguages(users: User[]): DataSet[] {
  const english = users.find(({ name }) => name === 'en');
  if (english === undefined) return [];
  const others = users.filter((user) => user !== english);
  const questions = others.flatMap((user) =>
    user.questions.map((question) => ({ ...question, kind: user.name })),
  );
  const user = { name: 'across languages', turns: english.turns, questions };
  return [{ name: 'English paragraphs, other languages', way: 'save', users: [user] }];
}

/** Reads one user from each text file. The folder decides the half of the questions. */
function readUsers(folder: string, add: (user: User, path: string) => void): User[] {
  return ['development', 'held-out'].flatMap((half) => {
    const inside = join(import.meta.dir, folder, half);
    const files = readdirSync(inside).filter((file) => file.endsWith('.txt'));
    return files.sort().map((file) => {
      const user: User = { name: file.replace('.txt', ''), turns: [], questions: [] };
      add(user, join(inside, file));
      for (const question of user.questions) question.heldOut = half === 'held-out';
      return user;
    });
  });
}

/** Makes all chats the memories of one user, so that each question has many wrong answers. */
function readChats(): User {
  const chats = readUsers('chats', addChat);
  const turns = chats.flatMap((chat) => chat.turns);
  return { name: 'chats', turns, questions: chats.flatMap(({ questions }) => questions) };
}

/** Reads a chat. Each message begins with a line such as `@@ a12 2025-03-02T18:10Z`. */
function addChat({ name, turns, questions }: User, path: string): void {
  for (const message of readFileSync(path, 'utf8').split(/^@@ /m).slice(1)) {
    const [head = '', ...lines] = message.split('\n');
    const [tag = '', time = ''] = head.split(' ');
    const role = tag.startsWith('u') ? 'user' : 'assistant';
    const at = new Date(time).toISOString();
    turns.push({ id: `${name}:${tag}`, session: name, text: lines.join('\n').trim(), role, at });
  }
  const questionFile = path.replace('.txt', '.questions');
  for (const line of existsSync(questionFile) ? linesOf(questionFile) : []) {
    questions.push(readQuestion(line, name, (tag) => (tag.includes(':') ? tag : `${name}:${tag}`)));
  }
}

/** Reads a conversation whose sessions begin with their times. The turns are a second apart. */
function addDated(user: User, path: string): void {
  readConversation(user, user.name, readFileSync(path, 'utf8'));
  for (const [index, turn] of user.turns.entries()) {
    const startMs = Date.parse(turn.session.slice(user.name.length + 1));
    turn.at = new Date(startMs + index * 1_000).toISOString();
  }
}

/** Reads one memory per line; a line that begins with `??` asks for the memory above it. */
function addMemories({ name, turns, questions }: User, path: string): void {
  for (const line of linesOf(path)) {
    const last = `${name}:${turns.length}`;
    if (line.startsWith('?? ')) {
      questions.push({ kind: '', evidence: [last], text: line.slice(3), user: name });
    } else turns.push({ id: `${name}:${turns.length + 1}`, session: name, text: line });
  }
}

/** Makes the memories of several sets those of one user, who is asked the questions of all. */
function together(sets: Record<string, User[]>): User {
  const users = Object.entries(sets).flatMap(([kind, list]) =>
    list.map(({ turns, questions }) => ({
      turns,
      questions: questions.map((question) => ({ ...question, kind })),
    })),
  );
  return {
    name: 'all',
    turns: users.flatMap(({ turns }) => turns),
    questions: users.flatMap(({ questions }) => questions),
  };
}

function textAlone(user: User): User {
  const turns = user.turns.map(({ id, session, text }): Turn => ({ id, session, text }));
  return { ...user, turns };
}

function linesOf(path: string): string[] {
  return readFileSync(path, 'utf8').trim().split('\n');
}
