import { MemoryClient, MemoryServiceError } from 'memory-service-sdk';

/*
 * Serves memories from the routes of your own application. The API key stays on the server. Only
 * the session determines the user, never the content of a request.
 *
 * Next:   export { handleMemories as GET, handleMemories as POST } from './web-handler';
 * Bun:    Bun.serve({ routes: { '/memories': handleMemories } })
 * Node:   see node-server.ts, which also applies to Express
 */

const memory = new MemoryClient(); // MEMORY_API_KEY and MEMORY_BASE_URL

/** GET ?q=… searches the user's memories, and POST { "content": … } saves a memory. */
export async function handleMemories(request: Request): Promise<Response> {
  const userId = userOf(request);
  if (userId === null) return Response.json({ error: 'sign in first' }, { status: 401 });
  try {
    if (request.method === 'GET') return await find(request, userId);
    if (request.method === 'POST') return await remember(request, userId);
    return Response.json({ error: 'use GET or POST' }, { status: 405 });
  } catch (error) {
    return answerOf(error);
  }
}

/** Replace this function with your own session check. */
function userOf(request: Request): string | null {
  return request.headers.get('x-demo-user');
}

async function find({ url, signal }: Request, userId: string): Promise<Response> {
  const query = new URL(url).searchParams.get('q') ?? '';
  // If the browser disconnects, the search is canceled.
  const { items } = await memory.search({ userId, query, limit: 5 }, { signal });
  return Response.json(items.map(({ id, content, score }) => ({ id, content, score })));
}

async function remember(request: Request, userId: string): Promise<Response> {
  // The service validates the content, and its error messages can be shown to users.
  const body = (await request.json()) as { content: string } | null;
  // If the browser sends an idempotency key, its retries are safe as well. Two users may send the
  // same key, so the user is a part of it.
  const key = request.headers.get('idempotency-key');
  const idempotencyKey = key === null ? undefined : `${encodeURIComponent(userId)}:${key}`;
  const { id } = await memory.save({ userId, content: body?.content ?? '' }, { idempotencyKey });
  return Response.json({ id }, { status: 201 });
}

/** Returns input errors to the user, and logs other errors with their request id. */
function answerOf(error: unknown): Response {
  if (error instanceof SyntaxError) return Response.json({ error: 'not JSON' }, { status: 400 });
  if (!(error instanceof MemoryServiceError)) throw error;
  if (error.status === 400 || error.status === 413) {
    return Response.json({ error: error.message }, { status: error.status });
  }
  console.error(error.name, error.code, error.requestId);
  return Response.json({ error: 'try again shortly' }, { status: 503 });
}
