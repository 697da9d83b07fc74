import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { SignJWT, UnsecuredJWT, decodeJwt, exportJWK, exportSPKI, generateKeyPair } from 'jose';
import type { GenerateKeyPairResult, JWTPayload } from 'jose';
import Provider from 'oidc-provider';

type Claims = Readonly<Record<string, unknown>>;
export type ClientMethod = 'client_secret_basic' | 'client_secret_post' | 'none';
type Forge = (claims: JWTPayload) => JWTPayload;

export const CLIENT = { id: 'receivables-desk', secret: 'a-secret-of-the-desk' } as const;
export const KEY_ID = 'of-the-test';
const ALGORITHM = 'RS256';
const KINDS = ['Interaction', 'Grant', 'Session', 'AccessToken', 'RefreshToken', 'IdToken'];
const GRANTED = 'openid profile email offline_access';

const page = (body: string): string =>
  `<!doctype html><html lang="en"><title>Provider</title><link rel="icon" href="data:,">${body}</html>`;
const LOGIN = page(
  '<form method="post"><label>Login <input name="login"></label><button>Go in</button></form>',
);
const GO_OUT = '<button name="logout" value="yes" form="op.logoutForm">Go out</button>';

/** A real provider of OpenID Connect on loopback, which people enter without a password, and which can be made to misbehave. */
export class TestProvider {
  readonly issuer: string;
  /** Who there is, with what is said of them. */
  readonly people = new Map<string, Claims>();
  /** Who signs in without being asked; undefined: a form asks. */
  next: string | undefined;
  givesRefreshTokens = true;
  /** Every connection is cut, or every answer is a failure, or has no end, or never comes. */
  away: 'cut' | 'failing' | 'endless' | 'silent' | undefined;
  readonly #unanswered: ServerResponse[] = [];
  /** Of answers without an end, to all who asked. */
  bytesSent = 0;
  /** What it says of itself in place of what is so. */
  says: Readonly<Record<string, unknown>> = {};
  /** Under which name it signs with another key than before, which alone is published then. */
  newKeyId: string | undefined;
  /** Changes what ID tokens say before they are signed. */
  forge: Forge | undefined;
  /** Who signs ID tokens, where that is not the provider: `secret`: whoever knows that of the console; `published`: with the provider's public key. */
  signer: 'stranger' | 'nobody' | 'secret' | 'published' | undefined;
  /** Paths that were asked for, in their order. */
  readonly asked: string[] = [];
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
    this.issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  /** @param publicUrls of consoles that people are sent back to @param method the one way in which a console shows who it is */
  static async open(
    publicUrls: readonly string[],
    method: ClientMethod = 'client_secret_basic',
  ): Promise<TestProvider> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const opened = new TestProvider(server);
    await opened.#serve(publicUrls, method);
    return opened;
  }

  /** Nobody is known, nothing was asked, and it does as it should. */
  reset(): void {
    this.people.clear();
    this.asked.length = 0;
    this.givesRefreshTokens = true;
    this.next = this.away = this.forge = this.signer = this.newKeyId = undefined;
    this.bytesSent = 0;
    this.says = {};
  }

  /** Whoever was not answered is cut off. */
  endSilence(): void {
    this.away = undefined;
    for (const answer of this.#unanswered.splice(0)) answer.destroy();
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #serve(publicUrls: readonly string[], method: ClientMethod): Promise<void> {
    const [own, strange] = await (keys ??= Promise.all([keyPair(), keyPair()]));
    const named = { alg: ALGORITHM, use: 'sig' };
    const key = { ...(await exportJWK(own.privateKey)), kid: KEY_ID, ...named };
    const newKey = { ...(await exportJWK(strange.publicKey)), ...named };
    const provider = quietly(
      () =>
        new Provider(this.issuer, {
          clientAuthMethods: [method],
          clients: [
            {
              client_id: CLIENT.id,
              ...(method !== 'none' && { client_secret: CLIENT.secret }),
              token_endpoint_auth_method: method,
              grant_types: ['authorization_code', 'refresh_token'],
              redirect_uris: publicUrls.map((url) => `${url}/session/callback`),
              post_logout_redirect_uris: publicUrls.map((url) => `${url}/session/ended`),
            },
          ],
          jwks: { keys: [key] },
          cookies: { keys: ['a key of the test'] },
          ttl: Object.fromEntries(KINDS.map((kind) => [kind, 3_600])),
          claims: { openid: ['sub', 'roles', 'realm_access'], profile: ['name'], email: ['email'] },
          conformIdTokenClaims: false,
          features: {
            devInteractions: { enabled: false },
            rpInitiatedLogout: {
              logoutSource: async (ctx: { body: unknown }, form: string) => {
                ctx.body = page(`${form}${GO_OUT}`);
              },
            },
          },
          interactions: { url: () => '/login' },
          issueRefreshToken: async () => this.givesRefreshTokens,
          rotateRefreshToken: true,
          findAccount: async (_: unknown, accountId: string) => {
            const claims = this.people.get(accountId);
            return claims && { accountId, claims: async () => ({ sub: accountId, ...claims }) };
          },
          loadExistingGrant: async ({ oidc }: Parameters<Parameters<Provider['use']>[0]>[0]) => {
            const { clientId } = oidc.client;
            const id = oidc.session.grantIdFor(clientId);
            if (id !== undefined) return oidc.provider.Grant.find(id);
            const grant = new oidc.provider.Grant({ clientId, accountId: oidc.session.accountId });
            grant.addOIDCScope(GRANTED);
            await grant.save();
            return grant;
          },
        }),
    );
    provider.use(async (ctx, next) => {
      await next();
      const body = ctx.body as
        { id_token?: string; id_token_signing_alg_values_supported?: string[] } | undefined;
      const route = ctx.oidc?.route;
      if (route === 'discovery') this.#describe(body!);
      if (route === 'jwks' && this.newKeyId) ctx.body = { keys: [{ ...newKey, kid: this.newKeyId }] };
      if (route !== 'token' || body?.id_token === undefined || this.#isHonest()) return;
      const decoded = decodeJwt(body.id_token);
      const claims = this.forge?.(decoded) ?? decoded;
      const signed = (alg: string, key: Parameters<SignJWT['sign']>[0]): Promise<string> =>
        new SignJWT(claims).setProtectedHeader({ alg, kid: this.newKeyId ?? KEY_ID }).sign(key);
      const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
      const by = {
        itself: () => signed(ALGORITHM, own.privateKey),
        stranger: () => signed(ALGORITHM, strange.privateKey),
        nobody: () => new UnsecuredJWT(claims).encode(),
        secret: () => signed('HS256', bytes(CLIENT.secret)),
        published: async () => signed('HS256', bytes(await exportSPKI(own.publicKey))),
      };
      body.id_token = await by[this.signer ?? (this.newKeyId ? 'stranger' : 'itself')]();
    });
    const answer = provider.callback();
    this.#server.on('request', (req: IncomingMessage, res: ServerResponse) => {
      const { pathname } = new URL(req.url!, this.issuer);
      this.asked.push(pathname);
      if (this.away === 'cut') return void req.socket.destroy();
      if (this.away === 'failing') return void res.writeHead(503).end('<h1>later</h1>');
      if (this.away === 'silent') return void this.#unanswered.push(res);
      if (this.away === 'endless') return this.#sendWithoutEnd(res);
      if (pathname === '/login') return void this.#enter(provider, req, res);
      answer(req, res);
    });
  }

  #isHonest(): boolean {
    return this.forge === undefined && this.signer === undefined && !this.newKeyId;
  }

  #describe(body: { id_token_signing_alg_values_supported?: string[] }): void {
    // Some offer them, and a console must not believe them.
    body.id_token_signing_alg_values_supported!.push('HS256', 'none');
    Object.assign(body, this.says);
  }

  #sendWithoutEnd(res: ServerResponse): void {
    const more = Buffer.alloc(64 * 1024, ' ');
    const send = (): void => {
      this.bytesSent += more.byteLength;
      if (!res.destroyed) res.write(more, send);
    };
    res.writeHead(200, { 'content-type': 'application/json' });
    send();
  }

  async #enter(provider: Provider, req: IncomingMessage, res: ServerResponse): Promise<void> {
    let accountId = this.next;
    if (accountId === undefined && req.method !== 'POST')
      return void res.writeHead(200, { 'content-type': 'text/html' }).end(LOGIN);
    if (accountId === undefined) {
      const chunks: Buffer[] = [];
      for await (const chunk of req) chunks.push(chunk as Buffer);
      accountId = new URLSearchParams(Buffer.concat(chunks).toString()).get('login') ?? '';
    }
    await provider.interactionFinished(req, res, { login: { accountId } });
  }
}

/** It warns of everything that is not for production. */
const quietly = <Made>(make: () => Made): Made => {
  const { warn } = console;
  console.warn = () => undefined;
  try {
    return make();
  } finally {
    console.warn = warn;
  }
};

const keyPair = () => generateKeyPair(ALGORITHM, { extractable: true });
/** Of every provider of a file: they take long to make. */
let keys: Promise<[own: GenerateKeyPairResult, strange: GenerateKeyPairResult]> | undefined;
