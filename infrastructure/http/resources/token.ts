import { component, object } from '../../../application/schemas/schema.ts';
import { NO_STORE } from '../openapi/components/headers.ts';
import { json } from '../openapi/operation.ts';
import { ok, endpoint } from '../operation.ts';
import { askedLifetime } from './sandbox-outcome.ts';

const TokenRequest = component('TokenRequest', {
  ...object(
    {
      grant_type: {
        type: 'string',
        enum: ['client_credentials'],
        description: 'The only grant there is.',
      },
      client_id: { type: 'string', description: 'Leave it out with HTTP Basic.' },
      client_secret: { type: 'string', description: 'Leave it out with HTTP Basic.' },
      scope: {
        type: 'string',
        description:
          'What the token shall allow, names separated by spaces. Without it, or when it is empty: everything that the client may do.',
      },
    },
    ['client_id', 'client_secret', 'scope'],
  ),
});

const example = {
  grant_type: 'client_credentials',
  client_id: 'client_4f2c8a',
  client_secret: 'rfs_2b7e151628aed2a6',
};

const Token = component(
  'Token',
  object({
    access_token: { type: 'string', description: 'A signed JWT.' },
    token_type: { type: 'string', const: 'Bearer' },
    expires_in: { type: 'integer', minimum: 1, description: 'Seconds.' },
    scope: { type: 'string', description: 'What the token allows, names separated by spaces.' },
  }),
);

export const issueToken = endpoint({
  id: 'issueToken',
  request: 'POST /token',
  summary: 'Exchange client credentials for an access token',
  description:
    'Keep the token and use it until shortly before it expires. The credentials come in the form or as HTTP Basic, not both. ' +
    'An unknown client and a wrong secret get the same answer. A `scope` narrows the token; one that is unknown, or not one of ' +
    'the client, is refused.',
  access: 'client_credentials',
  bucket: 'token',
  sandboxParameters: ['SandboxTokenLifetime'],
  body: { mediaType: 'application/x-www-form-urlencoded', schema: TokenRequest, example, limit: 16_384 },
  success: [
    {
      ...json(200, 'A token for the scopes of the client, or for those asked for.', Token, {
        access_token: 'eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJjbGllbnQifQ.c2lnbmF0dXJl',
        token_type: 'Bearer',
        expires_in: 3600,
        scope: 'loans:write loans:read webhooks',
      }),
      headers: NO_STORE,
    },
  ],
  errors: ['unsupported_grant_type', 'invalid_scope', 'invalid_client'],
  handler:
    ({ tokens }) =>
    async ({ client, headers }) => {
      const { accessToken, expiresIn, scope } = await tokens.issue(client!, askedLifetime(headers));
      return ok({ access_token: accessToken, token_type: 'Bearer', expires_in: expiresIn, scope });
    },
});
