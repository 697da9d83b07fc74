import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { readConsoleConfiguration } from '../../infrastructure/composition/console-configuration.ts';
import { readConfiguration } from '../../infrastructure/composition/configuration.ts';

/** So that what is read only beside something else is read as well. */
const EVERYTHING: Readonly<Record<string, string>> = {
  KAFKA_BROKERS: 'localhost:9092',
  KAFKA_USERNAME: 'user',
  KAFKA_PASSWORD: 'password',
  OTEL_EXPORTER_OTLP_ENDPOINT: 'http://localhost:4318',
  CONSOLE_PUBLIC_URL: 'http://localhost:4200',
  CONSOLE_OIDC_ISSUER: 'http://localhost:8080',
  CONSOLE_OIDC_CLIENT_ID: 'desk',
  METRICS_PORT: '9464',
};

const namesRead = (read: (environment: typeof EVERYTHING) => unknown): ReadonlySet<string> => {
  const names = new Set<string>();
  const environment = new Proxy(EVERYTHING, {
    get: (variables, name: string) => {
      names.add(name);
      return variables[name];
    },
  });
  read(environment);
  return names;
};

/** Those of the first column of the table in this part of the page. */
const namesDescribed = (part: number): ReadonlySet<string> => {
  const page = readFileSync(new URL('../../docs/configuration.md', import.meta.url), 'utf8');
  const table = page.split(/^## /m)[part] ?? '';
  const cells = [...table.matchAll(/^\| ([^|]*) \|/gm)].map(([, cell = '']) => cell);
  return new Set(cells.flatMap((cell) => [...cell.matchAll(/`([A-Z0-9_]+)`/g)].map(([, name = '']) => name)));
};

describe('docs/configuration.md', () => {
  test('names every variable that is read, and no other', () => {
    expect([...namesDescribed(0)].toSorted()).toEqual([...namesRead(readConfiguration)].toSorted());
  });

  test('names every variable of the console, and no other', () => {
    const { ALLOW_INSECURE: _, ...read } = Object.fromEntries(
      [...namesRead(readConsoleConfiguration)].map((name) => [name, name]),
    );
    expect([...namesDescribed(1)].toSorted()).toEqual(Object.keys(read).toSorted());
  });
});
