import { copyFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { openApiDocument } from '../../../infrastructure/http/openapi/document.ts';
import { Methods } from './operations.ts';
import type { Description } from './operations.ts';
import { declarationOf, referredTo } from './types.ts';

/** Operations that are no part of an integration: the token is seen to, and pages are for browsers. */
const LEFT_OUT = new Set(['Authentication', 'Service']);
const HOME = new URL('../', import.meta.url);
const GENERATED = new URL('src/generated/', HOME);

const address = 'http://localhost:3000';
const description = openApiDocument({ publicUrl: address, authUrl: address }) as unknown as Description;

const typesText = ({ components: { schemas }, webhooks }: Description): string => {
  const declarations = Object.keys(schemas).map((name) => declarationOf(name, schemas));
  const events = Object.values(webhooks).map(({ post }) => {
    const [content] = Object.values(post.requestBody?.content ?? {});
    return referredTo(content?.schema.$ref ?? '');
  });
  const event = `/** Any event; \`event\` tells which. Later versions may add some: ignore what you do not know. */\nexport type WebhookEvent = ${events.join(' | ')};\n`;
  return `${declarations.join('\n')}\n${event}`;
};

const clientText = (document: Description): string => {
  const methods = new Methods(document);
  const routes = Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({ path, method, operation })),
  );
  const body = routes
    .filter(({ operation: { tags } }) => !tags.some((tag) => LEFT_OUT.has(tag)))
    .map((route) => methods.of(route))
    .join('\n');
  return `import type { UploadedFile } from '../bodies.ts';
import { withKey } from '../bodies.ts';
import type { Keyed } from '../bodies.ts';
import { throughFeed, throughPages } from '../pages.ts';
import type { FollowOptions } from '../pages.ts';
import type { CallOptions, ClientSettings } from '../settings.ts';
import { Transport, pathOf } from '../transport.ts';

/** The version of the service's description that this package was made from. */
export const VERSION = '${document.info.version}';

/** A body that only asks what would happen. */
type Asked<Body> = Body & { dry_run: true };
type Meant<Body> = Body & { dry_run?: false | null | undefined };

${typesText(document)}
${methods.queries}
/** Every operation of the service, under the name that its description has for it. One client is enough for a whole program. */
export class ReceivablesClient {
  readonly #transport: Transport;

  constructor(settings: ClientSettings) {
    this.#transport = new Transport(settings, VERSION);
  }

${body}}
`;
};

const INDEX = `import { verifiedEvent } from '../webhooks.ts';
import type { ReceivedWebhook, VerifyOptions } from '../webhooks.ts';
import type { Refusal, WebhookEvent } from './client.ts';

export * from './client.ts';
export { ApiError, ConnectionError, ReceivablesError } from '../errors.ts';
export type { Violation } from '../errors.ts';
export type { UploadedFile } from '../bodies.ts';
export type { Keyed } from '../bodies.ts';
export type { FollowOptions } from '../pages.ts';
export type { AttemptReport, CallOptions, ClientSettings, RequestOptions, SandboxWishes } from '../settings.ts';
export { until } from '../waiting.ts';
export type { UntilOptions } from '../waiting.ts';
export { WebhookRejectedError } from '../webhooks.ts';
export type { ReceivedWebhook, RejectionReason, VerifyOptions } from '../webhooks.ts';

export type ErrorCode = Refusal['error_code'];

/**
 * The event in a webhook, once its signature and its time of sending are found genuine. A delivery may come twice: remember
 * \`event_id\`.
 * @throws WebhookRejectedError answer such a request with 401 and forget it
 */
export const verifyWebhook = (webhook: ReceivedWebhook, options: VerifyOptions): WebhookEvent =>
  verifiedEvent(webhook, options) as WebhookEvent;
`;

for (const folder of [GENERATED, new URL('dist/', HOME)]) rmSync(folder, { recursive: true, force: true });
mkdirSync(GENERATED);
writeFileSync(new URL('client.ts', GENERATED), clientText(description));
writeFileSync(new URL('index.ts', GENERATED), INDEX);
copyFileSync(new URL('../../LICENSE', HOME), new URL('LICENSE', HOME));
