import * as fs from "node:fs"
import { pipeline } from "node:stream"
import * as zlib from "node:zlib"
import { EngineError } from "../files/EngineError.js"
import type { ObjectType } from "../port/GitRepository.js"

const pieceBytes = 64 * 1024

/** An object that lies by itself in a file: deflated, and no delta. */
export interface Deflated {
  readonly type: ObjectType
  readonly size: number
  readonly file: string
  /** Where its bytes begin in the file, and where the next one's do; undefined is the end of the file. */
  readonly start: number
  readonly end: number | undefined
  /** Bytes before the content, once inflated. */
  readonly header: number
}

/** The same with its file open, so that nobody who removes it is in the way. */
export class ObjectStream {
  private fd: number | undefined
  readonly type: ObjectType
  readonly size: number

  constructor(private readonly object: Deflated) {
    this.type = object.type
    this.size = object.size
    this.fd = fs.openSync(object.file, "r")
  }

  /** The content, once, piece by piece. */
  async *pieces(): AsyncGenerator<Uint8Array, void, undefined> {
    const { end, header, size, start } = this.object
    const fd = this.fd
    if (fd === undefined) throw new EngineError("Unreachable", `${this.object.file} was closed`)
    // From here on the file is closed by its reader, which waits for a read that is under way.
    this.fd = undefined
    const source = fs.createReadStream("", {
      fd,
      start,
      highWaterMark: pieceBytes,
      ...(end === undefined ? {} : { end: end - 1 })
    })
    const inflater = zlib.createInflate({ chunkSize: pieceBytes })
    pipeline(source, inflater, () => {})
    let given = -header
    try {
      for await (const chunk of inflater as AsyncIterable<Buffer>) {
        const before = given
        given += chunk.length
        if (given > size) throw wrongSize(this.object, given)
        if (given > 0) yield before < 0 ? chunk.subarray(-before) : chunk
      }
      if (given !== size) throw wrongSize(this.object, given)
    } finally {
      source.destroy()
      inflater.destroy()
    }
  }

  close(): void {
    if (this.fd !== undefined) fs.closeSync(this.fd)
    this.fd = undefined
  }
}

const wrongSize = ({ file, size }: Deflated, found: number) =>
  new EngineError("Corrupt", `An object in ${file} has ${found} bytes instead of ${size}`, "Run `git fsck`")

/** The content of an object that is in memory, in pieces of the same size. */
export function* slices(content: Uint8Array): Generator<Uint8Array, void, undefined> {
  for (let at = 0; at < content.length; at += pieceBytes) {
    yield new Uint8Array(content.subarray(at, at + pieceBytes))
  }
}
