/** What the near side sends. The requests of a batch are answered in their order. */
export type ToThread<Request> =
  { readonly kind: 'batch'; readonly requests: readonly Request[] } | { readonly kind: 'close' };

/** What the thread sends: `ready` once, or `failed` and the thread ends; then one message for each group that it carried out. */
export type FromThread<Reply> =
  | { readonly kind: 'ready' }
  | { readonly kind: 'failed'; readonly message: string }
  | { readonly kind: 'replies'; readonly replies: readonly Reply[] };
