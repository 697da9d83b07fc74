import express from 'express';

/** The bare server that settlements are compared with: Express parses the same body and sends it back. */
const app = express();
app.post('/echo', express.json(), (request, response) => {
  response.json(request.body);
});
app.listen(Number(process.env['PORT']), '127.0.0.1', () => process.stdout.write('ready\n'));
