import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { sessionTokens, DeskSessions, sessionOf } from '../../application/desk/sessions.ts';
import { SqlKeyStore } from '../../application/coordination/key-store.ts';
import type { SqlDatabase } from '../../application/sql/sql-database.ts';
import { ManualClock } from '../support/manual-clock.ts';

const CHECK = 'master-key:check';
const [OLD, NEW] = ['1', '2'].map((digit) => `w2.${digit.repeat(16)}.`) as [string, string];
const MINUTE = 60_000;
const MARIA = {
  issuer: 'https://login.example',
  subject: 'maria',
  name: 'Maria',
  grants: [{ role: 'maker' }],
} as const;
const BEGINNING = { tokens: { refresh: 'a' }, configured: 'x', idleMs: 30 * MINUTE };

export const describeDeskSessionsContract = (
  adapter: string,
  open: () => Promise<{ readonly database: SqlDatabase; readonly close: () => Promise<void> }>,
): void => {
  describe(`${adapter} keeps sessions of the desk`, () => {
    let store: Awaited<ReturnType<typeof open>>;
    let wrapping = OLD;
    const clock = new ManualClock();
    const sessionsAt = (): DeskSessions =>
      new DeskSessions({
        database: store.database,
        clock,
        seal: async (text) => `${wrapping}${text}`,
        open: (sealed) => sealed.slice(OLD.length),
        pause: async () => undefined,
      });
    let sessions: DeskSessions;
    beforeAll(async () => {
      store = await open();
      await new SqlKeyStore(store.database, clock).putIfAbsent(CHECK, `${OLD}check`);
      sessions = sessionsAt();
    });
    beforeEach(() => clock.advance(24 * 60 * MINUTE));
    afterAll(() => store.close());

    test('each is found by what its browser holds, in every process, until it ends', async () => {
      const cookie = await sessions.begin({ person: MARIA, ...BEGINNING });
      const found = await sessionsAt().find(cookie, 'x');
      expect(sessionOf(found!)).toEqual({ id: found!.id, person: MARIA, language: null });
      expect(await sessions.find(cookie, 'y')).toBeUndefined();
      expect(await sessions.find('', 'x')).toBeUndefined();
      await sessions.speak(cookie, 'en');
      expect(sessionOf((await sessions.find(cookie, 'x'))!).language).toBe('en');
      expect([await sessions.end(found!.id), await sessions.end(found!.id)]).toEqual([true, false]);
      expect(await sessions.find(cookie, 'x')).toBeUndefined();
    });

    test('those that have ended are listed no longer, and go when another begins', async () => {
      const cookie = await sessions.begin({ person: MARIA, ...BEGINNING });
      clock.advance(20 * MINUTE);
      await sessions.used((await sessions.find(cookie, 'x'))!, BEGINNING.idleMs);
      const [listed, ...none] = await sessions.list();
      expect([listed!.person, Date.parse(listed!.until) - Date.parse(listed!.lastAt), none]).toEqual([
        MARIA,
        30 * MINUTE,
        [],
      ]);
      clock.advance(30 * MINUTE);
      expect([await sessions.list(), await sessions.end(listed!.id)]).toEqual([[], false]);
      await sessions.begin({ person: MARIA, ...BEGINNING });
      const rows = await store.database.read(store.database.builder.selectFrom('desk_session').select('id'));
      expect(rows).toHaveLength(1);
    });

    test('many that begin at once leave eight of a person', async () => {
      const many = Array.from({ length: 12 }, () => sessions.begin({ person: MARIA, ...BEGINNING }));
      await Promise.all(many);
      expect(await sessions.list()).toHaveLength(8);
      await sessions.begin({ person: { ...MARIA, issuer: 'https://other.example' }, ...BEGINNING });
      expect(await sessions.list()).toHaveLength(9);
    });

    test('of many that would ask the provider, one may', async () => {
      const cookie = await sessions.begin({ person: MARIA, ...BEGINNING });
      const row = (await sessions.find(cookie, 'x'))!;
      expect(sessions.isToAsk(row)).toBe(false);
      clock.advance(5 * MINUTE);
      expect(sessions.isToAsk(row)).toBe(true);
      const asked = await Promise.all([1, 2, 3].map(() => sessionsAt().mayAsk(row)));
      expect(asked.filter(Boolean)).toHaveLength(1);
      const person = { ...MARIA, name: 'M.', grants: [{ role: 'viewer', funds: ['f'] }] } as const;
      await sessions.renewed(row, person, { refresh: 'b', id: 'c' });
      const renewed = (await sessions.find(cookie, 'x'))!;
      expect([sessions.isToAsk(renewed), sessions.tokensOf(renewed)]).toEqual([
        false,
        { refresh: 'b', id: 'c' },
      ]);
      expect(sessionOf(renewed).person).toEqual(person);
      await sessions.end(row.id);
      await sessions.renewed(row, person, { refresh: 'd' });
      expect(await sessions.find(cookie, 'x')).toBeUndefined();
    });

    test('their tokens are wrapped anew with the master key, and what the old one wraps later is not stored', async () => {
      const tokens = sessionTokens(store.database);
      const cookies = await Promise.all([1, 2, 3].map(() => sessions.begin({ person: MARIA, ...BEGINNING })));
      const first = await tokens.page('', 2);
      const texts = [...first, ...(await tokens.page(first[1]!.name, 2))];
      expect(texts).toHaveLength(3);
      const changes = texts.map(({ name, wrapped }) => ({
        ...{ name, from: wrapped },
        to: wrapped.replace(OLD, NEW),
      }));
      expect([await tokens.rewrap(changes), await tokens.rewrap(changes), await tokens.rewrap([])]).toEqual([
        3, 0, 0,
      ]);
      const keys = new SqlKeyStore(store.database, clock);
      await keys.turn({ name: CHECK, from: `${OLD}check`, to: `${NEW}check` });
      await expect(sessions.begin({ person: MARIA, ...BEGINNING })).rejects.toThrow();
      wrapping = NEW;
      await sessions.begin({ person: MARIA, ...BEGINNING });
      const row = (await sessions.find(cookies[0]!, 'x'))!;
      expect([sessions.tokensOf(row), (await sessions.list()).length]).toEqual([{ refresh: 'a' }, 4]);
    });
  });
};
