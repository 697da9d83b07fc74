import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { Schema } from '../../../application/schemas/schema.ts';
import { ALWAYS, RATE_HEADERS } from '../openapi/components/headers.ts';
import type { Explained, OpenApiDocument } from '../openapi/operation.ts';
import { ServedContent } from './served-content.ts';

/** Headers that the page describes once, in its introduction, instead of at every response. */
const COMMON = new Set(Object.keys({ ...ALWAYS, ...RATE_HEADERS }));

type Responses = Readonly<Record<string, Schema>>;

const withOwnHeaders = (response: Schema): Schema => {
  const { headers, ...rest } = response as { headers?: Schema } & Schema;
  const own = Object.entries(headers ?? {}).filter(([name]) => !COMMON.has(name));
  return own.length === 0 ? rest : { ...rest, headers: Object.fromEntries(own) };
};

const withoutCommonHeaders = (responses: Responses): Responses =>
  Object.fromEntries(
    Object.entries(responses).map(([status, response]) => [status, withOwnHeaders(response)]),
  );

const inOperation = (operation: Schema): Schema => ({
  ...operation,
  responses: withoutCommonHeaders(operation['responses'] as Responses),
});

/** Without a value of its own the page would fill one in from the schema, and send it. */
const NOT_SENT = { none: { value: '', 'x-disabled': true } };

const notFilledIn = (parameter: Schema): Schema =>
  parameter['required'] === true ? parameter : { ...parameter, examples: NOT_SENT };

/** From the page, whatever address it was opened at: `docs/guides/...`. */
const fromPage = ({ externalDocs }: Explained): Explained['externalDocs'] => ({
  ...externalDocs,
  url: externalDocs.url.slice(externalDocs.url.indexOf('/docs/guides') + 1),
});

/** The page shows no guide of a group by itself. */
const withGuide = (tag: Explained): Explained => {
  const externalDocs = fromPage(tag);
  const { url, description } = externalDocs;
  return {
    ...tag,
    externalDocs,
    description: `${String(tag['description'])} Guide: [${description}](${url}).`,
  };
};

/** The description as the page shows it: without repeated headers and filled-in optional parameters, with links to the guides. */
export const presented = (document: OpenApiDocument): OpenApiDocument => ({
  ...document,
  externalDocs: fromPage(document),
  tags: document.tags.map(withGuide),
  paths: Object.fromEntries(
    Object.entries(document.paths).map(([path, methods]) => [
      path,
      Object.fromEntries(
        Object.entries(methods).map(([method, operation]) => [method, inOperation(operation as Schema)]),
      ),
    ]),
  ),
  components: {
    ...document.components,
    parameters: Object.fromEntries(
      Object.entries(document.components['parameters'] ?? {}).map(([name, one]) => [name, notFilledIn(one)]),
    ),
    responses: withoutCommonHeaders(document.components['responses'] ?? {}),
  },
});

/** The page draws itself in the browser: no inline script, nothing evaluated, nothing from another host. */
export const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  // The reference places its parts with style attributes and style elements that it makes itself.
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const { resolve } = createRequire(import.meta.url);
/** The bundled script. The package exports only the style sheet that lies beside it. */
const bundlePath = (): string =>
  join(dirname(resolve('@scalar/api-reference/style.css')), 'browser/standalone.js');

/** The page breaks words of narrow columns anywhere, and is wider than a small screen: here a wide table scrolls instead. */
const TABLES =
  '.scalar-app .markdown table { display: block; overflow-x: auto; } ' +
  '.scalar-app .markdown :is(th, td) { padding: 6px 8px; word-break: normal; overflow-wrap: normal; } ' +
  '.scalar-app .markdown td:nth-child(3) { min-width: 7.5rem; } ' +
  '.scalar-app .markdown td code { overflow-wrap: anywhere; } ' +
  '.scalar-app .markdown td code:only-child { white-space: nowrap; } ' +
  'body { overflow-x: clip; }';

const start = (document: OpenApiDocument): string => `'use strict';
const here = new URL('.', location.href).href.replace(/\\/$/, '');
Scalar.createApiReference('#reference', {
  content: ${JSON.stringify(presented(document))},
  servers: [{ url: here }],
  authentication: {
    preferredSecurityScheme: 'oauth2',
    securitySchemes: { oauth2: { flows: { clientCredentials: { tokenUrl: here + '/token' } } } },
  },
  // Nothing of this leaves the host that serves the page.
  withDefaultFonts: false,
  telemetry: false,
  agent: { disabled: true },
  mcp: { disabled: true },
  showDeveloperTools: 'never',
  hideClientButton: true,
  persistAuth: false,
  documentDownloadType: 'none',
  // The samples of the description are run by a test; those that the page makes by itself do not send files.
  hiddenClients: true,
  customCss: ${JSON.stringify(TABLES)},
});
`;

/** Without this the page tests whether it may compile code, which its policy forbids and the browser reports. */
const BEFORE = 'globalThis.__zod_globalConfig = { jitless: true };\n';

const page = (scripts: readonly string[]): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Receivables Fund Assignment and Settlement: reference</title>
<link rel="icon" href="data:,">
</head>
<body>
<noscript>This page is drawn by a script. The description itself is at <a href="openapi.json">openapi.json</a>.</noscript>
<div id="reference"></div>
${scripts.map((script) => `<script defer src="docs/${script}"></script>`).join('\n')}
</body>
</html>
`;

const JAVASCRIPT = 'text/javascript; charset=utf-8';

/** The interactive reference and what it loads. @throws Error when the package with its files is missing */
export const loadReferencePage = async (document: OpenApiDocument) => {
  const named = (name: string, text: string): readonly [string, ServedContent] => {
    const content = new ServedContent(Buffer.from(text), JAVASCRIPT);
    return [`${name}.${content.digest.slice(0, 16)}.js`, content];
  };
  // The map is not served, and a browser's tools would ask for it.
  const bundle = (await readFile(bundlePath(), 'utf8')).replace(/\n\/\/# sourceMappingURL=.*$/m, '');
  const scripts = [named('reference', BEFORE + bundle), named('start', start(document))];
  const html = page(scripts.map(([name]) => name));
  return {
    page: new ServedContent(Buffer.from(html), 'text/html; charset=utf-8'),
    /** By file name; the name changes with the content. */
    assets: new Map(scripts),
  };
};
