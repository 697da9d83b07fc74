import { Counter, Gauge, Histogram } from 'prom-client';
import type { Registry } from 'prom-client';

/** Makes what counts and measures in this registry; behind the help stand the names of labels. */
export const instrumentsIn = (registry: Registry) => {
  const registers = [registry];
  return {
    counter: <Label extends string>(name: string, help: string, ...labelNames: Label[]) =>
      new Counter<Label>({ name, help, labelNames, registers }),
    gauge: <Label extends string>(name: string, help: string, ...labelNames: Label[]) =>
      new Gauge<Label>({ name, help, labelNames, registers }),
    /** @param buckets upper bounds, in seconds */
    histogram: <Label extends string>(
      { name, help, buckets }: { readonly name: string; readonly help: string; readonly buckets: number[] },
      ...labelNames: Label[]
    ) => new Histogram<Label>({ name, help, buckets, labelNames, registers }),
  };
};
