import { describe, expect, test } from '@jest/globals';
import { readConfiguration } from '../../../infrastructure/composition/configuration.ts';

describe('metrics', () => {
  test('are on, for this machine only, unless said otherwise', () => {
    expect(readConfiguration({}).metrics).toEqual({ host: '127.0.0.1', port: 9464 });
    expect(readConfiguration({ METRICS_PORT: '9500', METRICS_HOST: '10.0.0.7' }).metrics).toEqual({
      host: '10.0.0.7',
      port: 9500,
    });
    expect(readConfiguration({ METRICS_PORT: 'off' }).metrics).toBeUndefined();
  });

  test.each(['0', '65536', 'on', '-1'])('METRICS_PORT=%s is refused by name', (value) => {
    expect(() => readConfiguration({ METRICS_PORT: value })).toThrow(/^METRICS_PORT /);
  });
});

describe('traces', () => {
  const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318/' };

  test('are off without an endpoint, and where the SDK is disabled', () => {
    expect(readConfiguration({ OTEL_SERVICE_NAME: 'x' }).tracing).toBeUndefined();
    expect(readConfiguration({ ...endpoint, OTEL_SDK_DISABLED: 'true' }).tracing).toBeUndefined();
  });

  test('go to the path for traces below the general endpoint, or exactly where their own says', () => {
    expect(readConfiguration(endpoint).tracing?.url).toBe('http://collector:4318/v1/traces');
    const own = { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://traces:4318/ingest' };
    expect(readConfiguration({ ...endpoint, ...own }).tracing?.url).toBe('http://traces:4318/ingest');
  });

  test('carry the attributes of the process, its name above all', () => {
    const resource = { OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=s%C3%A3o,service.name=other' };
    expect(readConfiguration(endpoint).tracing?.resource).toEqual({
      'service.name': 'receivables-fund-service',
    });
    expect(
      readConfiguration({ ...endpoint, ...resource, OTEL_SERVICE_NAME: 'mine' }).tracing?.resource,
    ).toEqual({
      'deployment.environment.name': 'são',
      'service.name': 'mine',
    });
  });

  test.each([
    ['OTEL_TRACES_SAMPLER_ARG', '1.5'],
    ['OTEL_TRACES_SAMPLER_ARG', 'all'],
    ['OTEL_RESOURCE_ATTRIBUTES', 'name'],
    ['OTEL_RESOURCE_ATTRIBUTES', 'name=%'],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'collector'],
  ])('%s=%s is refused by name', (name, value) => {
    expect(() => readConfiguration({ ...endpoint, [name]: value })).toThrow(new RegExp(`^${name} `));
  });
});
