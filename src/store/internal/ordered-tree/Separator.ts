import { sha256 } from "../../../git/Digest.js"

/** The maximum length of a key in a file name. */
export const nameLength = 100

/** Separates the beginning of a long key from its hash. Keys do not contain it. */
const mark = "."

const strengthLength = 12
const hashLength = 32

const hashOf = (key: string): string => sha256(key).slice(0, hashLength)

/**
 * The key at which a file or directory of a tree begins, as its name. A key that is too long is cut, and its hash is
 * appended. The least separator, which precedes all keys, has an empty name.
 */
export class Separator {
  #strength: string | undefined

  constructor(readonly name: string) {}

  static of(key: string): Separator {
    return new Separator(key.length <= nameLength ? key : key.slice(0, nameLength) + mark + hashOf(key))
  }

  /** The first digits of the hash of its key; a smaller value is stronger. */
  get strength(): string {
    if (this.#strength === undefined) {
      const { name } = this
      const hash = this.isCut ? name.slice(nameLength + mark.length) : hashOf(name)
      this.#strength = name === "" ? "" : hash.slice(0, strengthLength)
    }
    return this.#strength
  }

  /** Whether the name contains only the beginning of the key. */
  get isCut(): boolean {
    return this.name.length > nameLength
  }

  /** The key, or the beginning of a long one. */
  get start(): string {
    return this.isCut ? this.name.slice(0, nameLength) : this.name
  }

  /** Compares a key with this separator's key; undefined if the name does not determine the result. */
  compareKey(key: string): number | undefined {
    if (!this.isCut) return key < this.name ? -1 : key > this.name ? 1 : 0
    const start = key.slice(0, nameLength)
    if (start !== this.start) return start < this.start ? -1 : 1
    return key.length <= nameLength ? -1 : undefined
  }
}

/** The separator of the first file and the first directory. */
export const least = new Separator("")

/** The name of the first child of a directory: its key may be less than that of every entry. */
const firstName = "0"

const fileSuffix = ".json"

const keyPattern = /^[a-z235][-0-9_a-z]*$/

/** The file name of a leaf or a directory. */
export const nameOf = (separator: Separator, isFirst: boolean, isLeaf: boolean): string =>
  (isFirst ? firstName : separator.name) + (isLeaf ? fileSuffix : "")

/** The separator of a file name in a directory that begins at `parent`; undefined for foreign names. */
export const separatorAt = (name: string, isLeaf: boolean, parent: Separator): Separator | undefined => {
  if (isLeaf && !name.endsWith(fileSuffix)) return undefined
  const text = isLeaf ? name.slice(0, -fileSuffix.length) : name
  if (text === firstName) return parent
  const key = text.slice(0, nameLength)
  if (!keyPattern.test(key)) return undefined
  const rest = text.slice(nameLength)
  return rest === "" || (rest.length === hashLength + 1 && /^\.[0-9a-f]+$/.test(rest))
    ? new Separator(text)
    : undefined
}
