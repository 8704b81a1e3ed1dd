import jsonServer from 'json-server';

/* A ready-made REST server over one JSON file, set up as json-server's documentation shows. */

const { path } = JSON.parse(process.argv[2] ?? '{}');

const app = jsonServer.create();
app.use(jsonServer.bodyParser);
app.use(jsonServer.rewriter({ '/v1/*': '/$1' }));
app.use(jsonServer.router(path));

const server = app.listen(0, '127.0.0.1', () => {
  console.log(JSON.stringify({ url: `http://127.0.0.1:${server.address().port}` }));
  process.on('SIGTERM', () => process.exit(0));
});
