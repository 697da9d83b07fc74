import { NO_STORE } from '../components/headers.ts';
import { json } from '../operation.ts';
import type { OperationSpec } from '../operation.ts';

const request = {
  grant_type: 'client_credentials',
  client_id: 'client_4f2c8a',
  client_secret: 'rfs_2b7e151628aed2a6',
};

export const tokenOperations: readonly OperationSpec[] = [
  {
    id: 'issueToken',
    method: 'post',
    path: '/token',
    tag: 'Authentication',
    summary: 'Exchange client credentials for an access token',
    description:
      'Keep the token and use it until shortly before it expires. The credentials come in the form or as HTTP Basic, not both. ' +
      'An unknown client and a wrong secret get the same answer.',
    access: 'client_credentials',
    bucket: 'token',
    body: [
      {
        mediaType: 'application/x-www-form-urlencoded',
        schema: 'TokenRequest',
        example: request,
        limit: 16_384,
      },
    ],
    success: [
      {
        ...json(200, 'A token for the scopes of the client.', 'Token', {
          access_token: 'eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJjbGllbnQifQ.c2lnbmF0dXJl',
          token_type: 'Bearer',
          expires_in: 3600,
          scope: 'loans:write loans:read webhooks',
        }),
        headers: NO_STORE,
      },
    ],
    errors: ['unsupported_grant_type', 'invalid_client'],
  },
];
