import type { ClientAuthenticator, TokenIssuer } from '../../../application/ports/tokens.ts';
import type { Handler } from '../pipeline/operation.ts';
import { ok } from '../pipeline/reply.ts';
import { invalidClient, readCredentials } from '../requests/client-credentials.ts';

export interface TokenDependencies {
  readonly authenticator: ClientAuthenticator;
  readonly issuer: TokenIssuer;
}

export const tokenHandlers = ({
  authenticator,
  issuer,
}: TokenDependencies): Readonly<Record<string, Handler>> => ({
  issueToken: {
    run: async ({ body, req }) => {
      const { clientId, secret } = readCredentials(req, body as URLSearchParams);
      const client = await authenticator.authenticate(clientId, secret);
      if (client === undefined) throw invalidClient(req);
      const { accessToken, expiresIn, scope } = await issuer.issue(client);
      return ok({ access_token: accessToken, token_type: 'Bearer', expires_in: expiresIn, scope });
    },
  },
});
