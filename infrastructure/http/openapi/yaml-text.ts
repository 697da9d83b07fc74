import { Document, isScalar, visit } from 'yaml';
import { holdsMoney } from '../../../application/support/json-amounts.ts';

/** A description as YAML, its amounts with two decimals. */
export const yamlText = (description: unknown): string => {
  const document = new Document(description, { aliasDuplicateObjects: false });
  visit(document, {
    Pair: (_, { key, value }) => {
      if (isScalar(key) && isScalar(value) && holdsMoney(String(key.value))) value.minFractionDigits = 2;
    },
  });
  return document.toString();
};
