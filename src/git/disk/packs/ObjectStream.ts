import * as fs from "node:fs"
import { pipeline } from "node:stream"
import * as zlib from "node:zlib"
import { EngineError } from "../files/EngineError.js"
import type { ObjectType } from "../port/GitRepository.js"

const pieceBytes = 64 * 1024

/** A deflated object in a file that is not a delta. */
export interface DeflatedObject {
  readonly type: ObjectType
  readonly size: number
  readonly file: string
  /** The range of the file in which its bytes are. `end` is undefined for the end of the file. */
  readonly start: number
  readonly end: number | undefined
  /** The size of the inflated header before the content. */
  readonly header: number
}

/** A deflated object whose file is open, so that it stays readable if another process removes the file. */
export class ObjectStream {
  private fd: number | undefined
  readonly type: ObjectType
  readonly size: number

  constructor(private readonly object: DeflatedObject) {
    this.type = object.type
    this.size = object.size
    this.fd = fs.openSync(object.file, "r")
  }

  /** Streams the content. It can be read once. */
  async *pieces(): AsyncGenerator<Uint8Array, void, undefined> {
    const { end, header, size, start } = this.object
    const fd = this.fd
    if (fd === undefined) throw new EngineError("Unreachable", `${this.object.file} was closed`)
    // From here on the read stream closes the file, after a pending read.
    this.fd = undefined
    const source = fs.createReadStream("", {
      fd,
      start,
      highWaterMark: pieceBytes,
      ...(end === undefined ? {} : { end: end - 1 })
    })
    const inflater = zlib.createInflate({ chunkSize: pieceBytes })
    pipeline(source, inflater, () => {})
    let inflated = -header
    try {
      for await (const chunk of inflater as AsyncIterable<Buffer>) {
        const before = inflated
        inflated += chunk.length
        if (inflated > size) throw wrongSize(this.object, inflated)
        if (inflated > 0) yield before < 0 ? chunk.subarray(-before) : chunk
      }
      if (inflated !== size) throw wrongSize(this.object, inflated)
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

const wrongSize = ({ file, size }: DeflatedObject, found: number) =>
  new EngineError("Corrupt", `An object in ${file} has ${found} bytes instead of ${size}`, "Run `git fsck`")

/** Splits content that is in memory into pieces of the size that a stream yields. */
export function* slices(content: Uint8Array): Generator<Uint8Array, void, undefined> {
  for (let at = 0; at < content.length; at += pieceBytes) {
    yield new Uint8Array(content.subarray(at, at + pieceBytes))
  }
}
