/** `template` with every `{request}` replaced, literally and in one pass, by the number as JavaScript writes it. */
export const render = (template: string, request: number): string =>
  template.includes("{request}") ? template.split("{request}").join(String(request)) : template
