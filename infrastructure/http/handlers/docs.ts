import { loadReferencePage, PAGE_POLICY } from '../docs/reference-page.ts';
import { HttpProblem } from '../errors/http-problem.ts';
import type { OpenApiDocument } from '../openapi/document.ts';
import type { Handler } from '../operation.ts';

const REVALIDATE = ['Cache-Control', 'no-cache'];
/** The name of a file changes with its content. */
const FOREVER = ['Cache-Control', 'public, max-age=31536000, immutable'];

/** The reference for people. @throws Error when its files are not installed */
export const docsHandlers = async (document: OpenApiDocument): Promise<Readonly<Record<string, Handler>>> => {
  const { page, assets } = await loadReferencePage(document);
  const readReference: Handler = {
    run: async ({ req }) => ({
      ...(await page.replyTo(req, REVALIDATE)),
      contentSecurityPolicy: PAGE_POLICY,
    }),
  };
  return {
    readReference,
    // Its addresses are relative, so the page works there as well.
    readRoot: readReference,
    readReferenceAsset: {
      run: async ({ req, params }) => {
        const asset = assets.get(params['asset'] ?? '');
        if (asset) return asset.replyTo(req, FOREVER);
        throw new HttpProblem('not_found', 'the reference has no such file');
      },
    },
  };
};
