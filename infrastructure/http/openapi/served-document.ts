import { stringify } from 'yaml';
import { ServedContent } from '../served-content.ts';
import type { Schema } from '../../../application/schemas/schema.ts';

export const servedAsJson = (document: Schema): ServedContent =>
  new ServedContent(Buffer.from(JSON.stringify(document)), 'application/json; charset=utf-8');

export const servedAsYaml = (document: Schema): ServedContent =>
  new ServedContent(
    Buffer.from(stringify(document, { aliasDuplicateObjects: false })),
    'application/yaml; charset=utf-8',
  );
