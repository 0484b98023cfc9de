import * as fs from "node:fs"

/** Open file descriptors of packs, the longest unused closed first. */
export class OpenPacks {
  private readonly open = new Map<string, number>()

  constructor(private readonly limit: number) {}

  descriptor(path: string): number {
    const known = this.open.get(path)
    if (known !== undefined) return known
    const fd = fs.openSync(path, "r")
    this.open.set(path, fd)
    if (this.open.size > this.limit) {
      const [oldest] = this.open.keys()
      if (oldest !== undefined) this.close(oldest)
    }
    return fd
  }

  close(path: string): void {
    const fd = this.open.get(path)
    if (fd === undefined) return
    this.open.delete(path)
    fs.closeSync(fd)
  }

  closeAll(): void {
    for (const path of [...this.open.keys()]) this.close(path)
  }
}
