/** Appends a key or an index to a path: `address`, `address.lines`, `address.lines[2]`. */
export const appendToPath = (parent: string, key: string | number): string =>
  typeof key === "string" && /^[A-Za-z_$][\w$-]*$/.test(key)
    ? parent === ""
      ? key
      : `${parent}.${key}`
    : `${parent}[${JSON.stringify(key)}]`
