import { expect, test } from '@jest/globals';
import { ConsoleServer } from '../../support/console-server.ts';

test('a form that is typed into asks for the session, which is used by that', async () => {
  const server = await ConsoleServer.open();
  try {
    const { cookie, formToken } = await server.enter();
    const asked = () => server.ask('/session', { headers: { cookie } });
    server.elapsed = 1_799_999;
    expect(await asked()).toMatchObject({ status: 200, text: formToken });
    server.elapsed += 1_799_999;
    expect((await asked()).status).toBe(200);
    server.elapsed += 1_800_000;
    expect((await asked()).status).toBe(401);
  } finally {
    await server.close();
  }
});
