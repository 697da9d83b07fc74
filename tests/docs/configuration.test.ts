import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { readConfiguration } from '../../infrastructure/composition/configuration.ts';

/** So that what is read only beside something else is read as well. */
const EVERYTHING: Readonly<Record<string, string>> = {
  KAFKA_BROKERS: 'localhost:9092',
  KAFKA_USERNAME: 'user',
  KAFKA_PASSWORD: 'password',
  OTEL_EXPORTER_OTLP_ENDPOINT: 'http://localhost:4318',
};

const namesRead = (): ReadonlySet<string> => {
  const names = new Set<string>();
  const environment = new Proxy(EVERYTHING, {
    get: (variables, name: string) => {
      names.add(name);
      return variables[name];
    },
  });
  readConfiguration(environment);
  return names;
};

/** Those of the first column of the first table. */
const namesDescribed = (): ReadonlySet<string> => {
  const page = readFileSync(new URL('../../docs/configuration.md', import.meta.url), 'utf8');
  const [table = ''] = page.split(/^## /m);
  const cells = [...table.matchAll(/^\| ([^|]*) \|/gm)].map(([, cell = '']) => cell);
  return new Set(cells.flatMap((cell) => [...cell.matchAll(/`([A-Z0-9_]+)`/g)].map(([, name = '']) => name)));
};

describe('docs/configuration.md', () => {
  test('names every variable that is read, and no other', () => {
    expect([...namesDescribed()].toSorted()).toEqual([...namesRead()].toSorted());
  });
});
