import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { asyncApiDocument } from '../../application/publication/description/asyncapi-document.ts';
import { openApiDocument } from '../../infrastructure/http/openapi/document.ts';
import { API_VERSION } from '../../infrastructure/http/openapi/version.ts';

/** Writes both descriptions as they are served into the folder that the command line names. */
const [folder = '.'] = process.argv.slice(2);
const address = 'http://localhost:3000';
const documents = {
  'openapi.json': openApiDocument({ publicUrl: address, authUrl: address }),
  'asyncapi.json': asyncApiDocument(API_VERSION),
};
for (const [name, document] of Object.entries(documents))
  writeFileSync(join(folder, name), JSON.stringify(document));
