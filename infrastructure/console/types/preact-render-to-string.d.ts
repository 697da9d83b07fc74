import type { VNode } from 'preact';

export declare const renderToString: (node: VNode) => string;
