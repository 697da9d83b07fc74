import type { TokenIssuer } from '../../../application/ports/clients.ts';
import { forAdmitted, ok } from '../operation.ts';
import type { Handler } from '../operation.ts';

export const tokenHandlers = (issuer: TokenIssuer): Readonly<Record<string, Handler>> => ({
  issueToken: {
    run: forAdmitted(async (client) => {
      const { accessToken, expiresIn, scope } = await issuer.issue(client);
      return ok({ access_token: accessToken, token_type: 'Bearer', expires_in: expiresIn, scope });
    }),
  },
});
