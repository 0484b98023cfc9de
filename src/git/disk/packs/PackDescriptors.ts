import * as fs from "node:fs"
import { LruCache } from "../../../domain/runtime/LruCache.js"

/** A cache of open file descriptors of packs. The least recently used one is closed first. */
export class PackDescriptors {
  private readonly open: LruCache<number>

  constructor(limit: number) {
    this.open = new LruCache(limit, undefined, { dispose: fs.closeSync })
  }

  /** The descriptor of a file. `onOpen` is called with a new one. */
  descriptor(path: string, onOpen?: (fd: number) => void): number {
    const known = this.open.get(path)
    if (known !== undefined) return known
    const fd = this.open.set(path, fs.openSync(path, "r"))
    onOpen?.(fd)
    return fd
  }

  close(path: string): void {
    this.open.delete(path)
  }

  closeAll(): void {
    this.open.clear()
  }
}
