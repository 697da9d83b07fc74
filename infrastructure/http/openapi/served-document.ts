import { stringify } from 'yaml';
import { ServedContent } from '../served-content.ts';
import type { OpenApiDocument } from './document.ts';

export const servedAsJson = (document: OpenApiDocument): ServedContent =>
  new ServedContent(Buffer.from(JSON.stringify(document)), 'application/json; charset=utf-8');

export const servedAsYaml = (document: OpenApiDocument): ServedContent =>
  new ServedContent(
    Buffer.from(stringify(document, { aliasDuplicateObjects: false })),
    'application/yaml; charset=utf-8',
  );
