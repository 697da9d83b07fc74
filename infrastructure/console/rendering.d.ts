/** What is used of preact, its renderer and htm, as Node.js imports them: their own declarations bring the globals of a browser, which no code here has. */
declare const element: unique symbol;
interface VNode {
  readonly [element]: true;
}
export type ComponentChildren =
  VNode | string | number | boolean | null | undefined | readonly ComponentChildren[];
export declare const Fragment: unique symbol;
export declare const h: (
  type: string | typeof Fragment,
  attributes: Readonly<Record<string, unknown>> | null,
  ...children: unknown[]
) => VNode;
export declare const renderToString: (node: VNode) => string;
declare const htm: {
  bind<Result>(
    create: (
      type: string,
      attributes: Readonly<Record<string, unknown>> | null,
      ...children: unknown[]
    ) => Result,
  ): (strings: TemplateStringsArray, ...values: readonly unknown[]) => Result | Result[];
};
export { htm as default };
