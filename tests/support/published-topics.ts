import { asyncApiDocument } from '../../application/publication/description/asyncapi-document.ts';
import { API_VERSION } from '../../infrastructure/http/openapi/version.ts';
import { yamlText } from '../../infrastructure/http/openapi/yaml-text.ts';

/** The document as it is served. */
export const publishedTopics = () => JSON.parse(JSON.stringify(asyncApiDocument(API_VERSION)));

export const topicsFile = new URL('../../docs/asyncapi.yaml', import.meta.url);
/** The schemas as they were first published: what is in here stays. */
export const publishedSchemasFile = new URL('../fixtures/published-schemas.json', import.meta.url);

const HEAD = '# Served as /asyncapi.yaml; written by: node tests/support/write-topics.ts\n';

export const topicsText = (): string => HEAD + yamlText(publishedTopics());
