/** Whether a text is a valid header value. Transports quote an invalid one, and so a secret, in their errors. */
export const isHeaderValue = (text: string): boolean => /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(text)
