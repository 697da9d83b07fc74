import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { OtlpTracer } from '../../../infrastructure/observability/tracing/otlp-tracer.ts';
import { rootSpanIdOf } from '../../../infrastructure/observability/tracing/tracer.ts';
import { OtlpCollector } from '../../support/otlp-collector.ts';
import { RecordingLogger } from '../../support/recording-logger.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const OTHER = '0af7651916cd43dd8448eb211c80319c';
const described = (name: string, traceId = TRACE) =>
  ({ name, kind: 'internal', traceId, attributes: {} }) as const;

let collector: OtlpCollector;
let logger: RecordingLogger;
beforeEach(async () => {
  collector = await OtlpCollector.start();
  logger = new RecordingLogger();
});
afterEach(() => collector.close());

const tracer = (ratio = 1): OtlpTracer =>
  new OtlpTracer({ url: `${collector.url}/v1/traces`, ratio, resource: { 'service.name': 'test' } }, logger);
const parents = () =>
  Object.fromEntries(collector.spans.map(({ name, parentSpanId }) => [name, parentSpanId]));

describe('spans', () => {
  test('stand inside the one that runs when it is of their trace, and begin their own trace otherwise', async () => {
    const tracing = tracer();
    await tracing.run(described('request'), async () => {
      await tracing.run(described('command'), async () => undefined);
      await tracing.run(described('decision', OTHER), async () => undefined);
    });
    await tracing.close();
    expect(parents()).toEqual({ request: '', command: rootSpanIdOf(TRACE), decision: '' });
    expect(collector.spans.find(({ name }) => name === 'decision')).toMatchObject({
      traceId: OTHER,
      spanId: rootSpanIdOf(OTHER),
    });
  });

  test('pass on what the work answers and what it throws', async () => {
    const tracing = tracer();
    expect(await tracing.run(described('one'), async () => 7)).toBe(7);
    const refused = tracing.run(described('two'), () => Promise.reject(new RangeError('no')));
    await expect(refused).rejects.toThrow(RangeError);
    await tracing.close();
    // The message of an error may say too much; its name does not.
    expect(collector.raw).toContain('RangeError');
    expect(collector.raw).not.toContain('"no"');
  });

  test('of a trace are kept all together or not at all', async () => {
    const none = tracer(0);
    expect(none.keeps(TRACE)).toBe(false);
    await none.run(described('request'), async () => undefined);
    none.record({ ...described('attempt'), parentSpanId: rootSpanIdOf(TRACE), startedAt: 1, endedAt: 2 });
    await none.close();
    expect(collector.spans).toEqual([]);
  });

  test('that the collector does not take cost one warning, nothing else', async () => {
    collector.status = 400;
    const tracing = tracer();
    await tracing.run(described('request'), async () => undefined);
    await tracing.close();
    expect(logger.lines.map(({ level, message }) => [level, message])).toEqual([
      ['warn', 'traces: the collector takes no spans'],
    ]);
  });
});
