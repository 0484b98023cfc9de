import * as fs from "node:fs"
import { LruCache } from "../../../domain/runtime/LruCache.js"

/** A cache of open file descriptors of packs. The least recently used one is closed first. */
export class PackDescriptors {
  private readonly open: LruCache<number>

  constructor(limit: number) {
    this.open = new LruCache(limit, undefined, { dispose: fs.closeSync })
  }

  descriptor(path: string): number {
    return this.open.get(path) ?? this.open.set(path, fs.openSync(path, "r"))
  }

  close(path: string): void {
    this.open.delete(path)
  }

  closeAll(): void {
    this.open.clear()
  }
}
