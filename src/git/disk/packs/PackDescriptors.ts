import * as fs from "node:fs"
import { LruCache } from "../../../domain/runtime/LruCache.js"

/** A cache of open file descriptors of packs. The least recently used one is closed first. */
export class PackDescriptors {
  private readonly open: LruCache<number>

  constructor(limit: number) {
    this.open = new LruCache(limit, undefined, { dispose: fs.closeSync })
  }

  /** The descriptor of a file. A file that is opened is checked first: `check` throws if it is not the expected one. */
  descriptor(path: string, check?: (fd: number) => void): number {
    const known = this.open.get(path)
    if (known !== undefined) return known
    const fd = fs.openSync(path, "r")
    try {
      check?.(fd)
    } catch (cause) {
      fs.closeSync(fd)
      throw cause
    }
    return this.open.set(path, fd)
  }

  close(path: string): void {
    this.open.delete(path)
  }

  closeAll(): void {
    this.open.clear()
  }
}
