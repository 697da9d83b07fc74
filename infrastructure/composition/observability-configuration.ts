import type { TracingSettings } from '../observability/tracing/otlp-tracer.ts';
import type { EnvironmentReader } from './environment-reader.ts';

export interface MetricsAddress {
  readonly host: string;
  readonly port: number;
}

const DEFAULT_PORT = 9464;
const SERVICE_NAME = 'receivables-fund-service';

/** Undefined when the operator wants none. */
export const readMetricsAddress = (variables: EnvironmentReader): MetricsAddress | undefined => {
  const host = variables.text('METRICS_HOST') ?? '127.0.0.1';
  if (variables.text('METRICS_PORT') === 'off') return undefined;
  const port = variables.integer('METRICS_PORT', DEFAULT_PORT, { from: 1, to: 65_535 });
  return Object.freeze({ host, port });
};

/** The standard variables of OpenTelemetry, as far as they decide something here; undefined without an endpoint. */
export const readTracing = (variables: EnvironmentReader): TracingSettings | undefined => {
  const url = endpointOf(variables);
  if (url === undefined || variables.boolean('OTEL_SDK_DISABLED', false)) return undefined;
  const resource = {
    'service.name': SERVICE_NAME,
    ...resourceAttributes(variables),
    ...named('service.name', variables.text('OTEL_SERVICE_NAME')),
  };
  return Object.freeze({ url, ratio: ratioOf(variables), resource: Object.freeze(resource) });
};

const named = (name: string, value: string | undefined) => (value === undefined ? {} : { [name]: value });

const endpointOf = (variables: EnvironmentReader): string | undefined => {
  const forTraces = 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT';
  if (variables.text(forTraces) !== undefined) return variables.baseUrl(forTraces, '');
  const general = 'OTEL_EXPORTER_OTLP_ENDPOINT';
  if (variables.text(general) === undefined) return undefined;
  return `${variables.baseUrl(general, '')}/v1/traces`;
};

const ratioOf = (variables: EnvironmentReader): number => {
  const text = variables.text('OTEL_TRACES_SAMPLER_ARG') ?? '1';
  const ratio = /^\d(\.\d{1,9})?$/.test(text) ? Number(text) : NaN;
  if (ratio >= 0 && ratio <= 1) return ratio;
  throw variables.invalid('OTEL_TRACES_SAMPLER_ARG', 'must be the share of traces to keep, from 0 to 1');
};

const resourceAttributes = (variables: EnvironmentReader): Readonly<Record<string, string>> => {
  const pairs = (variables.text('OTEL_RESOURCE_ATTRIBUTES') ?? '')
    .split(',')
    .filter((pair) => pair.trim() !== '');
  return Object.fromEntries(pairs.map((pair) => attributeOf(variables, pair)));
};

const attributeOf = (variables: EnvironmentReader, pair: string): readonly [string, string] => {
  const [name = '', value, ...rest] = pair.split('=').map((part) => part.trim());
  try {
    if (name !== '' && value !== undefined && rest.length === 0)
      return [decodeURIComponent(name), decodeURIComponent(value)];
  } catch {
    // Falls through: a percent sign that encodes nothing.
  }
  throw variables.invalid('OTEL_RESOURCE_ATTRIBUTES', 'must be a list of name=value, percent-encoded');
};
