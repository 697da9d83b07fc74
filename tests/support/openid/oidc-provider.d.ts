import type { IncomingMessage, ServerResponse } from 'node:http';

interface Grant {
  addOIDCScope(scope: string): void;
  save(): Promise<string>;
}

export interface ProviderContext {
  readonly oidc: {
    readonly route?: string;
    readonly client: { readonly clientId: string };
    readonly session: { grantIdFor(clientId: string): string | undefined; readonly accountId: string };
    readonly provider: {
      readonly Grant: {
        new (of: { readonly clientId: string; readonly accountId: string }): Grant;
        find(id: string): Promise<Grant>;
      };
    };
  };
  status: number;
  body: unknown;
}

/** The package has no declaration; this is what is used of it. */
declare class Provider {
  constructor(issuer: string, configuration: object);
  use(middleware: (ctx: ProviderContext, next: () => Promise<void>) => Promise<void>): void;
  callback(): (req: IncomingMessage, res: ServerResponse) => void;
  interactionFinished(req: IncomingMessage, res: ServerResponse, result: object): Promise<void>;
}
export { Provider as default };
