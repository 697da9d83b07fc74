import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { afterAll, describe, expect, test } from '@jest/globals';
import { DomainError } from '../../../../domain/shared/domain-error.ts';
import { DamagedDocumentError } from '../../../../application/ports/document-store.ts';
import { DOCX, PDF, disposition } from '../../../../infrastructure/support/stored-files.ts';
import { client, tokenFor } from '../../../support/http-fakes.ts';
import { HttpWorld } from '../../../support/http-world.ts';

const ID = '2d0c6a0e-51c4-4a0a-9a35-5b0d6f2f9a11';
const PATH = `/loan/OP-1/documents/${ID}`;
const SHA256 = 'a'.repeat(64);

const world = await HttpWorld.start();
world.clients.add(client({ clientId: 'client-b', applicationId: 'app-b' }));
afterAll(() => world.stop());

/** What the next reads find; `ended` counts those that let go of it. */
const found = (pieces: readonly (Buffer | Error)[], name = 'ccb.pdf') => {
  const seen = { ended: 0, taken: 0 };
  const size = pieces.reduce((sum, piece) => sum + (piece instanceof Error ? 1 : piece.length), 0);
  world.behaviour.loans.document = async () => {
    const content = async function* (): AsyncGenerator<Uint8Array> {
      try {
        for (const piece of pieces) {
          if (piece instanceof Error) throw piece;
          seen.taken += 1;
          yield piece;
        }
      } finally {
        seen.ended += 1;
      }
    };
    return { name, sha256: SHA256, size, pieces: content() };
  };
  return seen;
};

describe('GET /loan/{originator_proposal_code}/documents/{document_id}', () => {
  test('sends the bytes as an attachment that nothing will run', async () => {
    let asked: readonly string[] = [];
    found([Buffer.from('%PDF-'), Buffer.from('1.4')]);
    const { document: readDocument } = world.behaviour.loans;
    world.behaviour.loans.document = (context, ...rest) => {
      asked = rest;
      return readDocument(context, ...rest);
    };
    const { status, text, headers } = await world.call(
      'GET',
      PATH.toUpperCase().replace('/LOAN', '/loan').replace('DOCUMENTS', 'documents'),
    );
    expect([status, text, asked]).toEqual([200, '%PDF-1.4', ['OP-1', ID]]);
    expect(Object.fromEntries(headers)).toMatchObject({
      'content-type': 'application/pdf',
      'content-length': '8',
      'content-disposition': 'attachment; filename="ccb.pdf"',
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
      etag: `"${SHA256}"`,
    });
  });

  test('says what the content is, not what its name is', async () => {
    found([Buffer.from('PK\u0003\u0004')], 'signed.pdf');
    expect((await world.call('GET', PATH)).headers.get('content-type')).toBe(DOCX);
  });

  test('sends nothing to whoever has it, and to HEAD', async () => {
    const seen = found([Buffer.alloc(70_000, '%PDF-'), Buffer.alloc(70_000, 1)]);
    const known = await world.call('GET', PATH, { headers: { 'if-none-match': `W/"x", "${SHA256}"` } });
    expect([known.status, known.text]).toEqual([304, '']);
    const head = await world.call('HEAD', PATH);
    expect([head.status, head.headers.get('content-length'), head.text]).toEqual([200, '140000', '']);
    expect(seen).toEqual({ ended: 1, taken: 1 });
  });

  test.each(['loan_not_found', 'document_not_found'] as const)('404 %s', async (code) => {
    world.behaviour.loans.document = () => Promise.reject(new DomainError(code, 'm'));
    const { status, body } = await world.call('GET', PATH);
    expect([status, body.error_code]).toEqual([404, code]);
  });

  test('damage that shows at once is an error; later it cuts the connection, so that nobody takes a part for the whole', async () => {
    const damaged = new DamagedDocumentError('damaged');
    found([damaged]);
    expect((await world.call('GET', PATH)).status).toBe(500);
    const seen = found([Buffer.from('%PDF-'), damaged]);
    await expect(world.call('GET', PATH)).rejects.toThrow();
    expect(seen.ended).toBe(1);
  });

  test('a reader that takes nothing holds a piece, and of its own application only so many get that far', async () => {
    const large = Array.from({ length: 40 }, () => Buffer.alloc(262_144, '%PDF-'));
    const seen = found(large);
    const readers: Socket[] = [];
    const stuck = async (clientId: string): Promise<string> => {
      const socket = connect(world.port, '127.0.0.1');
      readers.push(socket);
      socket.write(`GET ${PATH} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${tokenFor(clientId)}\r\n\r\n`);
      return new Promise((resolve) => {
        socket.once('data', (data) => {
          socket.pause();
          resolve(data.toString('latin1').slice(0, 12));
        });
      });
    };
    try {
      const answers: string[] = [];
      for (let i = 0; i < 33; i++) answers.push(await stuck('client-a'));
      expect(answers.slice(0, 32)).toEqual(Array(32).fill('HTTP/1.1 200'));
      expect(answers[32]).toBe('HTTP/1.1 429');
      expect(await stuck('client-b')).toBe('HTTP/1.1 200');
      expect((await world.call('GET', '/loan/OP-1')).status).toBe(200);
      expect(seen.taken).toBeLessThan(33 * large.length);
    } finally {
      for (const socket of readers) socket.destroy();
    }
    for (let i = 0; i < 500 && seen.ended < 33; i++) await new Promise((resolve) => setTimeout(resolve, 10));
    expect(seen.ended).toBe(33);
    found([Buffer.from('%PDF-')]);
    expect((await world.call('GET', PATH)).status).toBe(200);
  });
});

describe('the type of a document', () => {
  test.each([
    ['%PDF-1.4\n<html><form>', 'evil.html', PDF],
    ['PK\u0003\u0004', 'evil.svg', DOCX],
  ])('%j as %s is %s', async (content, name, type) => {
    found([Buffer.from(content)], name);
    const { headers } = await world.call('GET', PATH);
    expect([headers.get('content-type'), headers.get('content-disposition')]).toEqual([
      type,
      `attachment; filename="${name}"`,
    ]);
  });
});

describe('the name of an attachment', () => {
  test.each([
    ['ccb.pdf', 'attachment; filename="ccb.pdf"'],
    [
      'Cédula nº 1.pdf',
      `attachment; filename="C_dula n_ 1.pdf"; filename*=UTF-8''C%C3%A9dula%20n%C2%BA%201.pdf`,
    ],
    ['a"b.pdf', `attachment; filename="a_b.pdf"; filename*=UTF-8''a%22b.pdf`],
    ["100%'(1)*.pdf", `attachment; filename="100_'(1)_.pdf"; filename*=UTF-8''100%25%27%281%29%2A.pdf`],
    ['..hidden', 'attachment; filename="hidden"'],
    ['...', 'attachment; filename="document"'],
    ['\u202Efdp.exe', 'attachment; filename="fdp.exe"'],
    ['a\u0085\r\n\u2028b\u009b\u061c.pdf', 'attachment; filename="ab.pdf"'],
    ['\u202e\u200f', 'attachment; filename="document"'],
    ['\ud800.pdf', `attachment; filename="_.pdf"; filename*=UTF-8''%EF%BF%BD.pdf`],
  ])('%j', (value, expected) => {
    expect(disposition('attachment', value)).toBe(expected);
    expect(disposition('inline', value)).toBe(expected.replace('attachment', 'inline'));
  });
});
