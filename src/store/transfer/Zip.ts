import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { Zip, ZipDeflate } from "fflate"
import { ValidationError } from "../../domain/errors/StoreError.js"

/** The largest size and offset without ZIP64, which not every reader of workbooks supports. */
const maxZip32 = 0xffff_ffff

/** A text file of an archive. */
export interface ZipFile<E = never, R = never> {
  readonly name: string
  readonly content: Stream.Stream<string, E, R>
}

const encoder = new TextEncoder()

/** The bytes of a ZIP archive, produced while its files are read, in constant memory. */
export const encodeZip = <E, R>(
  files: ReadonlyArray<ZipFile<E, R>>,
  limit = maxZip32
): Stream.Stream<Uint8Array, E | ValidationError, R> =>
  Stream.suspend(() => {
    let ready: Array<Uint8Array> = []
    let written = 0
    const archive = new Zip((_error, bytes) => {
      if (bytes.length > 0) ready.push(bytes)
      written += bytes.length
    })
    const drained = (size: number) => {
      const bytes = Chunk.unsafeFromArray(ready)
      ready = []
      return Math.max(size, written) > limit ? sizeExceeded(limit) : Effect.succeed(bytes)
    }
    const entry = ({ content, name }: ZipFile<E, R>) =>
      Stream.suspend(() => {
        const file = new ZipDeflate(name, { level: 1 })
        archive.add(file)
        let size = 0
        const parts = Stream.mapChunksEffect(content, (texts) => {
          const bytes = encoder.encode(Chunk.join(texts, ""))
          size += bytes.length
          if (bytes.length > 0) file.push(bytes)
          return drained(size)
        })
        const last = Stream.fromIterableEffect(
          Effect.suspend(() => {
            file.push(new Uint8Array(0), true)
            return drained(size)
          })
        )
        return Stream.concat(parts, last)
      })
    const end = Stream.fromIterableEffect(
      Effect.suspend(() => {
        archive.end()
        return drained(0)
      })
    )
    return Stream.concat(Stream.flatMap(Stream.fromIterable(files), entry), end)
  })

const sizeExceeded = (limit: number) =>
  Effect.fail(
    new ValidationError({
      operation: "exportExcel",
      message: `a workbook has at most ${limit} bytes and this one has more`,
      hint: "set a limit, choose fewer columns, or export CSV"
    })
  )
