import { component, object } from '../../../application/schemas/schema.ts';
import { HttpProblem } from '../errors/http-problem.ts';
import { json } from '../openapi/operation.ts';
import { readinessAnswer } from '../server/health-app.ts';
import { endpoint, ok } from '../operation.ts';

const KeySet = component(
  'KeySet',
  object({
    keys: { type: 'array', items: { type: 'object' }, description: 'JSON Web Keys (RFC 7517).' },
  }),
);

const Health = component(
  'Health',
  object(
    {
      status: { type: 'string', const: 'ok' },
      checks: {
        type: 'object',
        additionalProperties: { type: 'string' },
        description: 'What was looked at, each `ok` or `failing`.',
      },
    },
    ['checks'],
  ),
);

const FIVE_MINUTES = ['Cache-Control', 'public, max-age=300'];

export const readKeySet = endpoint({
  id: 'readKeySet',
  request: 'GET /.well-known/jwks.json',
  access: 'public',
  summary: 'Public keys of the access tokens',
  description: 'A JSON Web Key Set for those who want to check tokens themselves.',
  success: [
    json(200, 'Every key whose tokens may still be valid.', KeySet, { keys: [{ kty: 'EC', kid: '1' }] }),
  ],
  handler:
    ({ tokens }) =>
    async () => ({ status: 200, json: await tokens.jwks(), headers: FIVE_MINUTES }),
});

export const readLiveness = endpoint({
  id: 'readLiveness',
  request: 'GET /health/live',
  access: 'public',
  bucket: null,
  summary: 'Whether the process runs',
  description: 'Says nothing about stores; restart the process when it fails.',
  success: [json(200, 'It runs.', Health, { status: 'ok' })],
  handler: () => () => ok({ status: 'ok' }),
});

export const readReadiness = endpoint({
  id: 'readReadiness',
  request: 'GET /health/ready',
  access: 'public',
  bucket: null,
  summary: 'Whether requests can be served',
  description:
    'Send traffic only while this answers 200. The message of a 503 names what fails; the log of the service says why.',
  success: [json(200, 'Ready.', Health, { status: 'ok', checks: { event_store: 'ok' } })],
  handler:
    ({ readiness }) =>
    async () => {
      const answer = readinessAnswer(await readiness());
      if (answer instanceof HttpProblem) throw answer;
      return ok(answer);
    },
});
