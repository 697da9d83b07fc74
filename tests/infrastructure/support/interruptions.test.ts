import { EventEmitter } from 'node:events';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { onInterruption } from '../../../infrastructure/support/interruptions.ts';
import packageJson from '../../../package.json' with { type: 'json' };

const listening = (script: string | undefined) => {
  const signals = new EventEmitter();
  const heard: string[] = [];
  let now = 5_000;
  onInterruption(
    { first: (signal) => heard.push(`first ${signal}`), again: (signal) => heard.push(`again ${signal}`) },
    {
      program: join(process.cwd(), 'infrastructure/composition/main.ts'),
      environment: script === undefined ? {} : { npm_lifecycle_script: script },
      signals,
      now: () => now,
    },
  );
  const send = (signal: string, afterMs = 0): void => {
    now += afterMs;
    signals.emit(signal, signal);
  };
  return { heard, send };
};

const START = packageJson.scripts.start;

describe('a signal', () => {
  test.each([undefined, 'node node_modules/jest/bin/jest.js'])(
    'asks for the end, and a second one for the end at once (script of npm: %s)',
    (script) => {
      const { heard, send } = listening(script);
      send('SIGTERM');
      send('SIGINT');
      expect(heard).toEqual(['first SIGTERM', 'again SIGINT']);
    },
  );

  test('that npm hands on is no second one', () => {
    const { heard, send } = listening(START);
    send('SIGINT');
    send('SIGINT', 99);
    expect(heard).toEqual(['first SIGINT']);
    send('SIGINT');
    expect(heard).toEqual(['first SIGINT', 'again SIGINT']);
  });

  test('that comes later is a second one below npm, too', () => {
    const { heard, send } = listening(START);
    send('SIGTERM');
    send('SIGTERM', 100);
    expect(heard).toEqual(['first SIGTERM', 'again SIGTERM']);
  });
});
