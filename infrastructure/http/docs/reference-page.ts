import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { ServedContent } from '../served-content.ts';

/** The page draws itself in the browser: nothing inline, nothing evaluated, nothing from another host. */
export const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  // The style sheet draws its arrows from data: addresses.
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const { resolve } = createRequire(import.meta.url);

/** Addresses are relative, so that the page works below a path of a gateway, too. */
const START = `'use strict';
SwaggerUIBundle({
  url: 'openapi.json',
  dom_id: '#reference',
  deepLinking: true,
  displayOperationId: true,
  displayRequestDuration: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
  syntaxHighlight: { activated: true },
  validatorUrl: null,
});
`;

const page = (style: string, scripts: readonly string[]): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Receivables Fund Assignment and Settlement: reference</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="docs/${style}">
</head>
<body>
<noscript>This page is drawn by a script. The description itself is at <a href="openapi.json">openapi.json</a>.</noscript>
<div id="reference"></div>
${scripts.map((script) => `<script defer src="docs/${script}"></script>`).join('\n')}
</body>
</html>
`;

export interface ReferencePage {
  readonly page: ServedContent;
  /** By file name; the name changes with the content. */
  readonly assets: ReadonlyMap<string, ServedContent>;
}

const JAVASCRIPT = 'text/javascript; charset=utf-8';
const CSS = 'text/css; charset=utf-8';

const fromPackage = async (file: string, mediaType: string): Promise<ServedContent> => {
  const text = await readFile(resolve(`swagger-ui-dist/${file}`), 'utf8');
  // The maps are not served, and a browser's tools would ask for them.
  return new ServedContent(Buffer.from(text.replace(/\n\/[/*]# sourceMappingURL=.*$/m, '')), mediaType);
};

/** The interactive reference and what it loads. @throws Error when the package with its files is missing */
export const loadReferencePage = async (): Promise<ReferencePage> => {
  const named = (name: string, content: ServedContent): readonly [string, ServedContent] => {
    const dot = name.lastIndexOf('.');
    return [`${name.slice(0, dot)}.${content.digest.slice(0, 16)}${name.slice(dot)}`, content];
  };
  const style = named('swagger-ui.css', await fromPackage('swagger-ui.css', CSS));
  const bundle = named('swagger-ui-bundle.js', await fromPackage('swagger-ui-bundle.js', JAVASCRIPT));
  const start = named('start.js', new ServedContent(Buffer.from(START), JAVASCRIPT));
  const html = page(style[0], [bundle[0], start[0]]);
  return {
    page: new ServedContent(Buffer.from(html), 'text/html; charset=utf-8'),
    assets: new Map([style, bundle, start]),
  };
};
