import express from 'express';
import { isAllowed, isValid, list, printAddress, save } from './store.js';

const app = express();
app.disable('x-powered-by');
app.disable('etag');

app.use((request, response, next) => {
  if (isAllowed(request.headers)) next();
  else response.status(401).json({ error: 'unauthorized' });
});

app.post('/v1/memories', express.json({ limit: '5mb' }), (request, response) => {
  if (isValid(request.body)) response.status(201).json(save(request.body));
  else response.status(400).json({ error: 'invalid_request' });
});

app.get('/v1/memories', (request, response) => {
  response.json(list(request.query));
});

const server = app.listen(0, '127.0.0.1', () => printAddress(server.address().port));
