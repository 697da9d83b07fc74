import { describe, expect, test } from '@jest/globals';
import shared from '@eventstore/db-client/generated/shared_pb.js';
import status from '@eventstore/db-client/generated/status_pb.js';
import streams from '@eventstore/db-client/generated/streams_pb.js';
import fc from 'fast-check';
import type { JsonText, StreamRevision } from '../../../application/ports/event-store.ts';
import { appendMessage, decodeAppendAnswer } from '../../../infrastructure/eventstoredb/messages.ts';
import { sampleMetadata } from '../../contracts/event-store-samples.ts';

const { BatchAppendReq, BatchAppendResp } = streams;
const { Status } = status;
const ID = '0198c1de-7a00-7c1f-9b1e-0123456789ab';
const unsigned = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });
const text = fc.string({ unit: 'grapheme', maxLength: 300 });
const utf8 = (bytes: Uint8Array): string => Buffer.from(bytes).toString();

/** As the package of the server reads what was written. */
const readBack = (bytes: Uint8Array): unknown => {
  const message = BatchAppendReq.deserializeBinary(bytes);
  const options = message.getOptions()!;
  return {
    id: message.getCorrelationId()?.getString(),
    final: message.getIsFinal(),
    deadline: options.getDeadline(),
    stream: utf8(options.getStreamIdentifier()!.getStreamName_asU8()),
    expected: options.hasNoStream() ? 'no_stream' : options.getStreamPosition(),
    events: message.getProposedMessagesList().map((one) => ({
      id: one.getId()?.getString(),
      data: utf8(one.getData_asU8()),
      metadata: utf8(one.getCustomMetadata_asU8()),
      notes: Object.fromEntries(one.getMetadataMap().toObject()),
    })),
  };
};

describe('an append', () => {
  test('goes out with everything in its place, however long its texts and whatever its numbers', () => {
    const event = fc.record({ id: fc.uuid(), type: text, data: text });
    const expected = fc.oneof(unsigned, fc.constant('no_stream' as const));
    const metadata = sampleMetadata();
    const check = (
      stream: string,
      at: StreamRevision,
      raw: readonly { id: string; type: string; data: string }[],
    ) => {
      const events = raw.map(({ data, ...rest }) => ({
        ...rest,
        data: `{"a":${JSON.stringify(data)}}` as JsonText,
        metadata,
      }));
      expect(readBack(appendMessage(ID, { stream, expected: at, events }))).toEqual({
        ...{ id: ID, final: true, deadline: undefined, stream },
        expected: at === 'no_stream' ? at : String(at),
        events: events.map(({ id, type, data }) => ({
          ...{ id, data, metadata: JSON.stringify(metadata) },
          notes: { type, 'content-type': 'application/json' },
        })),
      });
    };
    fc.assert(fc.property(text, expected, fc.array(event, { maxLength: 3 }), check));
    check('s', 0n, [{ id: ID, type: 't', data: 'x'.repeat(1_000_000) }]);
  });
});

describe('the answer to an append', () => {
  const answer = (): streams.BatchAppendResp =>
    new BatchAppendResp()
      .setCorrelationId(new shared.UUID().setString(ID))
      .setStreamIdentifier(new shared.StreamIdentifier().setStreamName('bG9hbg=='))
      .setNoStream(new shared.Empty());
  const decoded = (one: streams.BatchAppendResp): unknown =>
    decodeAppendAnswer(Buffer.from(one.serializeBinary()));

  test('tells where the events stand now', () => {
    fc.assert(
      fc.property(unsigned, unsigned, unsigned, (revision, commit, prepare) => {
        const place = new shared.AllStreamPosition()
          .setCommitPosition(String(commit))
          .setPreparePosition(String(prepare));
        const success = new BatchAppendResp.Success().setCurrentRevision(String(revision)).setPosition(place);
        const result = { revision, position: `${commit}/${prepare}` };
        expect(decoded(answer().setSuccess(success))).toEqual({ id: ID, result });
      }),
    );
  });

  test('may leave the place open, and write the id as two numbers', () => {
    const bits = new shared.UUID.Structured()
      .setMostSignificantBits(String(BigInt.asIntN(64, 0x0198c1de7a007c1fn)))
      .setLeastSignificantBits(String(BigInt.asIntN(64, 0x9b1e0123456789abn)));
    const success = new BatchAppendResp.Success().setCurrentRevision('7').setNoPosition(new shared.Empty());
    const given = answer().setCorrelationId(new shared.UUID().setStructured(bits)).setSuccess(success);
    expect(decoded(given)).toEqual({ id: ID, result: { revision: 7n, position: 'unknown' } });
  });

  test('may be a refusal with its reason', () => {
    const refused = decoded(answer().setError(new Status().setMessage('Server Is Busy'))) as {
      readonly refusal: status.Status;
    };
    expect(refused.refusal.getMessage()).toBe('Server Is Busy');
  });

  test('that is cut off is an error, never success', () => {
    const success = new BatchAppendResp.Success().setCurrentRevision('300');
    const whole = Buffer.from(new BatchAppendResp().setSuccess(success).serializeBinary());
    for (let length = 1; length < whole.length; length++)
      expect(() => decodeAppendAnswer(whole.subarray(0, length))).toThrow('cut off');
    expect(decodeAppendAnswer(whole)).toMatchObject({ result: { revision: 300n } });
  });
});
