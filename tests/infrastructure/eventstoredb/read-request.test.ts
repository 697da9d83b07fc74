import { describe, expect, test } from '@jest/globals';
import streams from '@eventstore/db-client/generated/streams_pb.js';
import fc from 'fast-check';
import { readRequest } from '../../../infrastructure/eventstoredb/read-request.ts';

const { ReadReq } = streams;
const { FORWARDS, BACKWARDS } = ReadReq.Options.ReadDirection;
const unsigned = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });
const count = fc.integer({ min: 1, max: 2 ** 31 - 1 });

/** As the package of the server reads what was written. */
const readBack = (bytes: Uint8Array) => {
  const options = ReadReq.deserializeBinary(bytes).getOptions()!;
  const [stream, all] = [options.getStream(), options.getAll()];
  return {
    ...(stream && {
      stream: Buffer.from(stream.getStreamIdentifier()!.getStreamName_asU8()).toString(),
      from: stream.hasEnd() ? 'end' : stream.getRevision(),
    }),
    ...(all && { from: all.hasEnd() ? 'end' : all.getPosition()?.toObject() }),
    direction: options.getReadDirection(),
    count: options.getCount(),
    links: options.getResolveLinks(),
    textIds: options.getUuidOption()?.hasString(),
    unfiltered: options.hasNoFilter(),
  };
};

const always = { links: false, textIds: true, unfiltered: true };

describe('a read', () => {
  test('of a stream goes out with its name and where it begins, whatever they are', () => {
    const name = fc.string({ unit: 'grapheme', maxLength: 300 });
    fc.assert(
      fc.property(name, unsigned, count, (stream, from, most) => {
        const expected = { stream, from: String(from), direction: FORWARDS, count: String(most), ...always };
        expect(readBack(readRequest({ stream, from }, most))).toEqual(expected);
      }),
    );
  });

  test('of the log begins at both parts of a position', () => {
    fc.assert(
      fc.property(unsigned, unsigned, (commit, prepare) => {
        const from = { commitPosition: String(commit), preparePosition: String(prepare) };
        const expected = { from, direction: FORWARDS, count: '1', ...always };
        expect(readBack(readRequest({ from: { commit, prepare } }, 1))).toEqual(expected);
      }),
    );
  });

  test('from the end goes backwards', () => {
    const expected = { from: 'end', direction: BACKWARDS, count: '1', ...always };
    expect(readBack(readRequest({ stream: 's', from: 'end' }, 1))).toEqual({ stream: 's', ...expected });
    expect(readBack(readRequest({ from: 'end' }, 1))).toEqual(expected);
  });
});
