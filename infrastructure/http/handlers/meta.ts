import { asyncApiDocument } from '../../../application/publishing/description/asyncapi-document.ts';
import type { TokenIssuer } from '../../../application/ports/clients.ts';
import { HttpProblem, unavailable } from '../errors/http-problem.ts';
import type { OpenApiDocument, PublicAddresses } from '../openapi/document.ts';
import { RELEASED_VERSIONS, releasedDescription } from '../openapi/released.ts';
import { API_VERSION } from '../openapi/version.ts';
import { servedAsJson, servedAsYaml } from '../openapi/served-document.ts';
import type { Replying } from '../openapi/served-document.ts';
import type { Handler } from '../operation.ts';

export interface Readiness {
  readonly ready: boolean;
  /** What was looked at. Anybody may ask, so what is wrong is for the log. */
  readonly checks: Readonly<Record<string, 'ok' | 'failing'>>;
}

export interface MetaDependencies {
  readonly issuer: TokenIssuer;
  readonly readiness: () => Promise<Readiness>;
}

/** Caches may keep a copy but have to ask whether it is still the current one. */
const REVALIDATE = ['Cache-Control', 'no-cache'];
const FIVE_MINUTES = ['Cache-Control', 'public, max-age=300'];

const documentHandler = (content: Replying): Handler => ({
  run: ({ req }) => content.replyTo(req, REVALIDATE),
});

const releasedHandler = (document: OpenApiDocument, addresses: PublicAddresses): Handler => {
  const versions = new Map<string, Replying | undefined>(
    RELEASED_VERSIONS.map((version) => [version, undefined]),
  );
  versions.set(API_VERSION, servedAsJson(document));
  return {
    run: async ({ req, params }) => {
      const version = params['version']!;
      if (!versions.has(version))
        throw new HttpProblem('not_found', `no such version; there are ${[...versions.keys()].join(', ')}`);
      const content = versions.get(version) ?? servedAsJson(await releasedDescription(version, addresses));
      versions.set(version, content);
      return content.replyTo(req, REVALIDATE);
    },
  };
};

export const checksText = ({ checks }: Readiness): string =>
  Object.entries(checks)
    .map(([name, state]) => `${name}: ${state}`)
    .join('; ');

export const metaHandlers = (
  document: OpenApiDocument,
  addresses: PublicAddresses,
  { issuer, readiness }: MetaDependencies,
): Readonly<Record<string, Handler>> => ({
  readDescriptionAsJson: documentHandler(servedAsJson(document)),
  readDescriptionAsYaml: documentHandler(servedAsYaml(document)),
  readReleasedDescription: releasedHandler(document, addresses),
  readTopicsAsJson: documentHandler(servedAsJson(asyncApiDocument(API_VERSION))),
  readTopicsAsYaml: documentHandler(servedAsYaml(asyncApiDocument(API_VERSION))),
  readKeySet: { run: async () => ({ status: 200, json: await issuer.jwks(), headers: FIVE_MINUTES }) },
  readLiveness: { run: () => ({ status: 200, json: { status: 'ok' } }) },
  readReadiness: {
    run: async () => {
      const state = await readiness();
      if (!state.ready) throw unavailable(`not ready: ${checksText(state)}`, 1);
      return { status: 200, json: { status: 'ok', checks: state.checks } };
    },
  },
});
