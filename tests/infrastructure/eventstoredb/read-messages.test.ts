import { describe, expect, test } from '@jest/globals';
import shared from '@eventstore/db-client/generated/shared_pb.js';
import streams from '@eventstore/db-client/generated/streams_pb.js';
import fc from 'fast-check';
import {
  decodeReadAnswer,
  readRequest,
  subscriptionRequest,
} from '../../../infrastructure/eventstoredb/messages.ts';
import { sampleMetadata } from '../../contracts/event-store-samples.ts';

const { ReadResp } = streams;
const bytesOf = (response: streams.ReadResp): Buffer => Buffer.from(response.serializeBinary());
const unsigned = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });

interface Sample {
  readonly id: string;
  readonly type: string;
  readonly data: string;
  readonly stream: string;
  readonly revision: bigint;
  readonly commit: bigint;
  readonly prepare: bigint;
}

const METADATA = sampleMetadata();

const sample: Sample = {
  id: '0198c1de-7a00-7c1f-9b1e-0123456789ab',
  type: 'loan.received.v1',
  data: '{"a":"ção 𝄞"}',
  stream: 'loan-app-1.OP-1',
  revision: 3n,
  commit: 4_000_000_000_000n,
  prepare: 3_999_999_999_999n,
};

const eventMessage = (one: Sample, id = new shared.UUID().setString(one.id)): streams.ReadResp => {
  const encoder = new TextEncoder();
  const event = new ReadResp.ReadEvent.RecordedEvent()
    .setId(id)
    .setStreamIdentifier(new shared.StreamIdentifier().setStreamName(encoder.encode(one.stream)))
    .setStreamRevision(String(one.revision))
    .setCommitPosition(String(one.commit))
    .setPreparePosition(String(one.prepare))
    .setData(encoder.encode(one.data))
    .setCustomMetadata(encoder.encode(JSON.stringify(METADATA)));
  event.getMetadataMap().set('created', '1').set('type', one.type).set('content-type', 'application/json');
  return new ReadResp().setEvent(new ReadResp.ReadEvent().setEvent(event).setCommitPosition('17'));
};

const recorded = ({ id, type, data, stream, revision, commit, prepare }: Sample): unknown => ({
  kind: 'event',
  event: { id, type, data, stream, revision, metadata: METADATA, position: `${commit}/${prepare}` },
});

describe('what the server answers to reads', () => {
  test('an event comes out as it went in, whatever its numbers and texts', () => {
    const text = fc.string({ unit: 'grapheme' });
    const samples = fc.record({
      ...{ id: fc.uuid(), type: text, data: text, stream: text },
      ...{ revision: unsigned, commit: unsigned, prepare: unsigned },
    });
    fc.assert(
      fc.property(samples, (one) => {
        fc.pre(one.commit !== 2n ** 64n - 1n);
        expect(decodeReadAnswer(bytesOf(eventMessage(one)))).toEqual(recorded(one));
      }),
    );
  });

  test('an id in two numbers is the same id', () => {
    const bits = new shared.UUID.Structured()
      .setMostSignificantBits(String(BigInt.asIntN(64, 0x0198c1de7a007c1fn)))
      .setLeastSignificantBits(String(BigInt.asIntN(64, 0x9b1e0123456789abn)));
    const answer = decodeReadAnswer(bytesOf(eventMessage(sample, new shared.UUID().setStructured(bits))));
    expect(answer).toEqual(recorded(sample));
  });

  test('a place that an older server does not tell is unknown', () => {
    const answer = decodeReadAnswer(bytesOf(eventMessage({ ...sample, commit: 2n ** 64n - 1n })));
    expect(answer).toMatchObject({ event: { position: 'unknown' } });
  });

  test.each([
    [
      'confirmed',
      new ReadResp().setConfirmation(new ReadResp.SubscriptionConfirmation().setSubscriptionId('x')),
    ],
    ['absent', new ReadResp().setStreamNotFound(new ReadResp.StreamNotFound())],
    ['caught_up', new ReadResp().setCaughtUp(new ReadResp.CaughtUp())],
    ['fell_behind', new ReadResp().setFellBehind(new ReadResp.FellBehind())],
    ['other', new ReadResp().setFirstStreamPosition('7')],
    ['other', new ReadResp()],
    ['other', new ReadResp().setEvent(new ReadResp.ReadEvent())],
  ])('%s', (kind, response) => {
    expect(decodeReadAnswer(bytesOf(response))).toEqual({ kind });
  });

  test('a checkpoint names its place', () => {
    const place = new ReadResp.Checkpoint().setCommitPosition('18').setPreparePosition('17');
    const answer = decodeReadAnswer(bytesOf(new ReadResp().setCheckpoint(place)));
    expect(answer).toEqual({ kind: 'checkpoint', checkpoint: '18/17' });
  });

  test('fields that a newer server adds are passed by, of every kind', () => {
    const added = Buffer.from([
      0xa0, 6, 150, 1, 0xa1, 6, 1, 2, 3, 4, 5, 6, 7, 8, 0xa5, 6, 1, 2, 3, 4, 0xa2, 6, 1, 9,
    ]);
    const answer = decodeReadAnswer(Buffer.concat([added, bytesOf(eventMessage(sample)), added]));
    expect(answer).toEqual(recorded(sample));
  });

  test('a message that is cut off anywhere is an error or less, never another event', () => {
    const whole = bytesOf(eventMessage(sample));
    for (let length = 0; length < whole.length; length++) {
      const cut = whole.subarray(0, length);
      if (length === 0) expect(decodeReadAnswer(cut)).toEqual({ kind: 'other' });
      else expect(() => decodeReadAnswer(cut)).toThrow('cut off');
    }
  });
});

const { FORWARDS, BACKWARDS } = streams.ReadReq.Options.ReadDirection;
const count = fc.integer({ min: 1, max: 2 ** 31 - 1 });

/** As the package of the server reads what was written. */
const readBack = (bytes: Uint8Array) => {
  const options = streams.ReadReq.deserializeBinary(bytes).getOptions()!;
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

describe('a subscription', () => {
  const subscribed = (...asked: Parameters<typeof subscriptionRequest>) =>
    streams.ReadReq.deserializeBinary(subscriptionRequest(...asked))
      .getOptions()!
      .toObject();

  test('goes out from a place, for the streams that begin so, and without an end', () => {
    const prefix = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 30 });
    fc.assert(
      fc.property(unsigned, unsigned, fc.array(prefix, { minLength: 1 }), (commit, prepare, prefixes) => {
        const { all, filter, subscription, noFilter, uuidOption } = subscribed({ commit, prepare }, prefixes);
        expect(all).toMatchObject({
          position: { commitPosition: String(commit), preparePosition: String(prepare) },
          start: undefined,
        });
        expect(filter).toMatchObject({
          streamIdentifier: { regex: '', prefixList: prefixes },
          max: 256,
          count: undefined,
          checkpointintervalmultiplier: 1,
        });
        expect({ subscription, noFilter, uuidOption }).toMatchObject({
          subscription: {},
          noFilter: undefined,
          uuidOption: { string: {} },
        });
      }),
    );
  });

  test('may begin at the start of the log', () => {
    expect(subscribed('start', ['loan-']).all).toEqual({ position: undefined, start: {}, end: undefined });
  });
});
