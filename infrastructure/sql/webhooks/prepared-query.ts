import type { CompiledQuery } from 'kysely';
import type { Query } from '../sql-database.ts';

type Value = string | number | null;

class Slot {
  readonly name: string;
  constructor(name: string) {
    this.name = name;
  }
}

const slots = new Proxy(Object.create(null) as object, {
  get: (_, name) => new Slot(String(name)),
});

/**
 * Compiles once and binds many times. Building a query costs more than running it, and these run thousands of times a second.
 * `build` sees placeholders instead of values, so it must not look into them.
 */
export const prepared = <Parameters extends { readonly [Name in keyof Parameters]: Value }, Row>(
  build: (parameters: Parameters) => Query<Row>,
): ((values: Parameters) => CompiledQuery<Row>) => {
  const template = build(slots as Parameters).compile();
  return (values) => ({
    ...template,
    parameters: template.parameters.map((p) => (p instanceof Slot ? values[p.name as keyof Parameters] : p)),
  });
};
