/** Replaces every `{request}` in a template by the number, in one pass. */
export const render = (template: string, request: number): string =>
  template.replaceAll("{request}", String(request))
