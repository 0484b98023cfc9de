import { createHash } from "node:crypto"
import * as fs from "node:fs"
import { promisify } from "node:util"
import * as zlib from "node:zlib"
import type { Oid } from "../../../domain/identifiers/Oid.js"
import { EngineError } from "../files/EngineError.js"
import { fsyncFile, unlink } from "../files/FileOperations.js"
import type { ObjectType } from "../port/GitRepository.js"

const writeAt = promisify(fs.write)

/** Writes what comes, one piece at a time, so that nothing is on its way when the file is closed. */
const writeTo = async (fd: number, pieces: AsyncIterable<Uint8Array>): Promise<void> => {
  for await (const piece of pieces) {
    for (let at = 0; at < piece.length; ) {
      at += (await writeAt(fd, piece, at, piece.length - at, null)).bytesWritten
    }
  }
}

/** An object whose content comes piece by piece: hashed and deflated as it comes, into a file that gets its name last. */
export class LooseWriter {
  private readonly fd: number
  private readonly hash = createHash("sha1")
  private readonly deflater = zlib.createDeflate({ level: 1, chunkSize: 256 * 1024 })
  /** Why the file could not be written, once that is known. */
  private readonly written: Promise<{ readonly cause: unknown } | undefined>
  private given = 0
  private open = true

  constructor(
    type: ObjectType,
    private readonly size: number,
    readonly file: string
  ) {
    this.fd = fs.openSync(file, "wx", 0o444)
    this.written = writeTo(this.fd, this.deflater).then(
      () => undefined,
      (cause: unknown) => ({ cause })
    )
    this.take(Buffer.from(`${type} ${size}\0`, "latin1"))
  }

  private take(bytes: Uint8Array): boolean {
    this.hash.update(bytes)
    return this.deflater.write(bytes)
  }

  /** Takes a piece in; done when there is room for the next one. */
  async write(bytes: Uint8Array): Promise<void> {
    this.given += bytes.length
    if (this.given > this.size) throw this.wrongSize()
    // A small piece is not waited for: by the time that it is deflated, its giver may have written over it.
    if (this.take(bytes.length < this.deflater.writableHighWaterMark ? Buffer.from(bytes) : bytes)) return
    await new Promise<void>((resolve) => {
      this.deflater.once("drain", resolve)
      void this.written.then(() => resolve())
    })
    if (this.deflater.destroyed) await this.end()
  }

  /** The object's id, once the file holds all of it. */
  async finish(durable: boolean): Promise<Oid> {
    if (this.given !== this.size) throw this.wrongSize()
    this.deflater.end()
    await this.end()
    if (durable) await fsyncFile(this.fd)
    this.release()
    return this.hash.digest("hex") as Oid
  }

  /** Leaves nothing behind but a file that was given its name. */
  async close(): Promise<void> {
    this.deflater.destroy()
    await this.written
    this.release()
    unlink(this.file)
  }

  private async end(): Promise<void> {
    const failed = await this.written
    if (failed !== undefined) throw failed.cause
  }

  private release(): void {
    if (this.open) fs.closeSync(this.fd)
    this.open = false
  }

  private wrongSize(): EngineError {
    return new EngineError(
      "Server",
      `An object that was to have ${this.size} bytes came with ${this.given}`,
      "Say the size that its content has"
    )
  }
}
