/** What a header can carry: transports that meet something else quote it in their complaint. */
export const isHeaderValue = (text: string): boolean => /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(text)
