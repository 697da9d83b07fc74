import { json } from 'node:stream/consumers';
import { getHeapSnapshot } from 'node:v8';

interface Snapshot {
  readonly snapshot: {
    readonly meta: {
      readonly node_fields: readonly string[];
      readonly edge_fields: readonly string[];
      readonly edge_types: readonly [readonly string[]];
    };
  };
  readonly nodes: readonly number[];
  readonly edges: readonly number[];
  readonly strings: readonly string[];
}

/** A name of its own, by which it is found in a snapshot. */
class Weighed {
  readonly parts: Readonly<Record<string, unknown>>;
  constructor(parts: Readonly<Record<string, unknown>>) {
    this.parts = parts;
  }
}

interface Edge {
  readonly name: string;
  readonly to: number;
}

/** Nodes are told by their number; what is held weakly is not held. */
const graphOf = ({ snapshot, nodes, edges, strings }: Snapshot) => {
  const { node_fields: ofNode, edge_fields: ofEdge, edge_types: types } = snapshot.meta;
  const weak = types[0].indexOf('weak');
  const field = (node: number, name: string): number => nodes[node * ofNode.length + ofNode.indexOf(name)]!;
  const count = nodes.length / ofNode.length;
  const firstEdge = new Uint32Array(count + 1);
  for (let node = 0; node < count; node++) firstEdge[node + 1] = firstEdge[node]! + field(node, 'edge_count');
  const [type, name, to] = ['type', 'name_or_index', 'to_node'].map((each) => ofEdge.indexOf(each));
  const edgesOf = function* (node: number): Generator<Edge> {
    for (let edge = firstEdge[node]!; edge < firstEdge[node + 1]!; edge++) {
      const at = edge * ofEdge.length;
      if (edges[at + type!] === weak) continue;
      yield { name: strings[edges[at + name!]!]!, to: edges[at + to!]! / ofNode.length };
    }
  };
  const named = (wanted: string): readonly number[] =>
    Array.from({ length: count }, (_, node) => node).filter(
      (node) => strings[field(node, 'name')] === wanted && field(node, 'edge_count') > 0,
    );
  return { count, edgesOf, named, sizeOf: (node: number) => field(node, 'self_size') };
};

/** Marks what can be reached without what is marked already. */
const mark = (
  { edgesOf }: ReturnType<typeof graphOf>,
  marked: Uint8Array,
  from: number,
): readonly number[] => {
  marked[from] = 1;
  const reached = [from];
  for (const node of reached)
    for (const { to } of edgesOf(node))
      if (marked[to] === 0) {
        marked[to] = 1;
        reached.push(to);
      }
  return reached;
};

/** The bytes that would be free if this part were let go, of each: counted in a snapshot, whenever the collector runs. */
export const retainedBytes = async (
  parts: Readonly<Record<string, unknown>>,
): Promise<Readonly<Record<string, number>>> => {
  const weighed = new Weighed(parts);
  const graph = graphOf((await json(getHeapSnapshot())) as Snapshot);
  const held = graph.named('Weighed').flatMap((node) => [...graph.edgesOf(node)]);
  const holder = held.find(({ name }) => name === 'parts')!.to;
  const roots = [...graph.edgesOf(holder)].filter(({ name }) => Object.hasOwn(weighed.parts, name));
  return Object.fromEntries(
    roots.map(({ name, to }) => {
      const marked = new Uint8Array(graph.count);
      marked[to] = 1;
      mark(graph, marked, 0);
      return [name, mark(graph, marked, to).reduce((sum, node) => sum + graph.sizeOf(node), 0)];
    }),
  );
};
