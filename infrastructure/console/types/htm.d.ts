/** As the package is imported by Node.js; its own declaration describes the other build. */
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
