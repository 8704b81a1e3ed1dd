import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import Database from 'better-sqlite3';
import Fastify from 'fastify';

/* Saves memories and lists first pages, with prepared statements and an index. */

const { path, key } = JSON.parse(process.argv[2] ?? '{}');

const db = new Database(path);
db.pragma('journal_mode = WAL');
db.pragma('synchronous = FULL');
db.exec(readFileSync(new URL('./schema.sql', import.meta.url), 'utf8'));
const columns = 'id, user_id AS userId, content, metadata, created_at, updated_at';
const insert = db.prepare('INSERT INTO memories VALUES (?, ?, ?, ?, ?, ?)');
const first = db.prepare(
  `SELECT ${columns} FROM memories WHERE user_id = ? ORDER BY created_at DESC, id DESC LIMIT ?`,
);

const app = Fastify({ bodyLimit: 5 * 1024 * 1024 });

app.addHook('onRequest', async (request, reply) => {
  if (request.headers.authorization !== `Bearer ${key}`)
    return reply.code(401).send({ error: 'unauthorized' });
});

const text = { type: 'string' };
const memory = {
  type: 'object',
  properties: {
    id: text,
    userId: text,
    content: text,
    metadata: { type: 'object', additionalProperties: true },
    createdAt: text,
    updatedAt: text,
  },
};
const body = {
  type: 'object',
  required: ['userId', 'content'],
  additionalProperties: false,
  properties: {
    userId: { type: 'string', minLength: 1, maxLength: 256 },
    content: { type: 'string', minLength: 1, maxLength: 65_536 },
    metadata: { type: 'object' },
  },
};
const page = {
  type: 'object',
  properties: {
    items: { type: 'array', items: memory },
    nextCursor: { type: ['string', 'null'] },
  },
};

// With a response schema, fastify serializes JSON with compiled code.
app.post('/v1/memories', { schema: { body, response: { 201: memory } } }, (request, reply) => {
  const { userId, content, metadata = {} } = request.body;
  const id = randomUUID();
  const at = Date.now();
  insert.run(id, userId, content, JSON.stringify(metadata), at, at);
  const time = new Date(at).toISOString();
  reply.code(201).send({ id, userId, content, metadata, createdAt: time, updatedAt: time });
});

app.get('/v1/memories', { schema: { response: { 200: page } } }, (request, reply) => {
  const { userId, limit = '20' } = request.query;
  const wanted = Math.min(100, Number(limit));
  const rows = first.all(userId, wanted + 1);
  const items = rows.slice(0, wanted).map(({ created_at, updated_at, metadata, ...row }) => ({
    ...row,
    metadata: JSON.parse(metadata),
    createdAt: new Date(created_at).toISOString(),
    updatedAt: new Date(updated_at).toISOString(),
  }));
  const { created_at, id } = rows[wanted - 1] ?? {};
  const cursor = Buffer.from(JSON.stringify([created_at, id])).toString('base64url');
  reply.send({ items, nextCursor: rows.length > wanted ? cursor : null });
});

await app.listen({ port: 0, host: '127.0.0.1' });
console.log(JSON.stringify({ url: `http://127.0.0.1:${app.server.address().port}` }));
process.on('SIGTERM', () => {
  db.close();
  process.exit(0);
});
