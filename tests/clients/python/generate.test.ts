import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { openApiDocument } from '../../../infrastructure/http/openapi/document.ts';

const GENERATOR = join(import.meta.dirname, '../../../clients/python/building');

type Paths = Record<string, Record<string, { operationId: string; security?: readonly object[] }>>;

/** Prints each method with what it sends, and whether it does so again when no answer came. */
const PROGRAM = `
import ast, json, sys
import generate

made = generate.modules(json.load(sys.stdin))
compile(made["types.py"], "types.py", "exec")
(client,) = [one for one in ast.parse(made["operations.py"]).body if isinstance(one, ast.ClassDef)]
for method in client.body:
    for call in ast.walk(method):
        if isinstance(call, ast.Call) and getattr(call.func, "attr", "") == "_call":
            again = [word.value.value for word in call.keywords if word.arg == "repeatable"]
            print(method.name, call.args[0].value, *again)
`;

test('the package for Python knows what the description says, and sends again what may be', () => {
  const document = openApiDocument({ publicUrl: 'http://localhost', authUrl: 'http://localhost' });
  const { stdout, stderr } = spawnSync('python3', ['-B', '-c', PROGRAM], {
    cwd: GENERATOR,
    encoding: 'utf8',
    input: JSON.stringify(document),
  });
  expect(stderr).toBe('');
  const methods = stdout
    .trim()
    .split('\n')
    .map((line) => line.split(' '));
  const described = Object.values(document['paths'] as Paths)
    .flatMap((path) => Object.values(path))
    .filter(({ security }) => security?.some((way) => 'bearer' in way))
    .map(({ operationId }) => operationId.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`));
  const names = methods.map(([name = '']) => name);
  expect(names.filter((name) => !name.endsWith('_with_files'))).toEqual(described);
  expect(
    methods.flatMap(([name, verb, again]) => (verb === 'GET' || again === 'True' ? [] : [name])),
  ).toEqual([
    'create_webhook',
    'rotate_webhook_secret',
    'ping_webhook',
    'redeliver_event',
    'redeliver_webhook',
    'move_sandbox_clock',
  ]);
});
