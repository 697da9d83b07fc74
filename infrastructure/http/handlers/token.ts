import type { TokenIssuer } from '../../../application/ports/clients.ts';
import { forAdmitted } from '../pipeline/operation.ts';
import type { Handler } from '../pipeline/operation.ts';
import { ok } from '../pipeline/reply.ts';

export const tokenHandlers = (issuer: TokenIssuer): Readonly<Record<string, Handler>> => ({
  issueToken: {
    run: forAdmitted(async (client) => {
      const { accessToken, expiresIn, scope } = await issuer.issue(client);
      return ok({ access_token: accessToken, token_type: 'Bearer', expires_in: expiresIn, scope });
    }),
  },
});
