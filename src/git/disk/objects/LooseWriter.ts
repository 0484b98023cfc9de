import { createHash } from "node:crypto"
import * as fs from "node:fs"
import { promisify } from "node:util"
import * as zlib from "node:zlib"
import type { Oid } from "../../../domain/identifiers/Oid.js"
import { EngineError } from "../files/EngineError.js"
import { fsyncFile, unlink } from "../files/FileOperations.js"
import type { ObjectType } from "../port/GitRepository.js"

const writeAt = promisify(fs.write)

/** Writes pieces one after the other, so that no write is pending when the file is closed. */
const writeTo = async (fd: number, pieces: AsyncIterable<Uint8Array>): Promise<void> => {
  for await (const piece of pieces) {
    for (let at = 0; at < piece.length; ) {
      at += (await writeAt(fd, piece, at, piece.length - at, null)).bytesWritten
    }
  }
}

/** Writes an object from pieces. Each piece is hashed and deflated when it arrives; the file is renamed at the end. */
export class LooseWriter {
  private readonly fd: number
  private readonly hash = createHash("sha1")
  private readonly deflater = zlib.createDeflate({ level: 1, chunkSize: 256 * 1024 })
  /** Resolves when the file has been written, with the cause of a failure. */
  private readonly written: Promise<{ readonly cause: unknown } | undefined>
  private received = 0
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
    this.deflate(Buffer.from(`${type} ${size}\0`, "latin1"))
  }

  private deflate(bytes: Uint8Array): boolean {
    this.hash.update(bytes)
    return this.deflater.write(bytes)
  }

  /** Writes a piece. Resolves when the next one can be written. */
  async write(bytes: Uint8Array): Promise<void> {
    this.received += bytes.length
    if (this.received > this.size) throw this.wrongSize()
    // A small piece is copied: its deflation is not awaited, and the caller may reuse the buffer.
    if (this.deflate(bytes.length < this.deflater.writableHighWaterMark ? Buffer.from(bytes) : bytes)) return
    await new Promise<void>((resolve) => {
      this.deflater.once("drain", resolve)
      void this.written.then(() => resolve())
    })
    if (this.deflater.destroyed) await this.end()
  }

  /** Completes the file, and returns the id of the object. */
  async finish(durable: boolean): Promise<Oid> {
    if (this.received !== this.size) throw this.wrongSize()
    this.deflater.end()
    await this.end()
    if (durable) await fsyncFile(this.fd)
    this.release()
    return this.hash.digest("hex") as Oid
  }

  /** Closes the file, and removes it unless it was renamed. */
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
      `An object has ${this.received} bytes instead of the announced ${this.size}`,
      "Announce the size of the content"
    )
  }
}
