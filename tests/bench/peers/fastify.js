import Fastify from 'fastify';
import { close, list, save, spec } from './store.js';

const app = Fastify({ bodyLimit: 5 * 1024 * 1024 });

app.addHook('onRequest', async (request, reply) => {
  if (request.headers.authorization !== `Bearer ${spec.key}`)
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
  reply.code(201).send(save(request.body));
});

app.get('/v1/memories', { schema: { response: { 200: page } } }, (request, reply) => {
  reply.send(list(request.query));
});

await app.listen({ port: 0, host: '127.0.0.1' });
console.log(JSON.stringify({ url: `http://127.0.0.1:${app.server.address().port}` }));
process.on('SIGTERM', () => {
  close();
  process.exit(0);
});
