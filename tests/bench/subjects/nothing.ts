/* Responds to every request with the same few bytes, to measure the load generator's own limit. */
import { listenOn } from './listen.ts';

listenOn(() => new Response('{}', { status: 201 }));
