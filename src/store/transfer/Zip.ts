import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { ValidationError } from "../../domain/StoreError.js"
import { crc32 } from "./Crc32.js"

/** What sizes and places of an archive without ZIP64 can say, which not every reader of workbooks knows. */
const most = 0xffff_ffff

/** Bytes of content that are compressed at once. */
const atOnce = 1 << 16

interface Entry {
  readonly name: Uint8Array
  readonly at: number
  readonly crc: number
  readonly packed: number
  readonly size: number
}

/** A file of an archive, its content as text. */
export interface ZipFile<E = never, R = never> {
  readonly name: string
  readonly content: Stream.Stream<string, E, R>
}

/** The bytes of a ZIP archive (APPNOTE 6.3), compressed beside the reading of its files, in constant memory. */
export const encodeZip = <E, R>(
  files: ReadonlyArray<ZipFile<E, R>>,
  limit = most
): Stream.Stream<Uint8Array, E | ValidationError, R> =>
  Stream.suspend(() => {
    const entries: Array<Entry> = []
    let offset = 0
    const counted = <E2>(bytes: Stream.Stream<Uint8Array, E2, R>) =>
      Stream.mapEffect(bytes, (chunk) => {
        offset += chunk.length
        return offset > limit ? tooBig(limit) : Effect.succeed(chunk)
      })
    const file = ({ content, name }: ZipFile<E, R>) =>
      Stream.suspend(() => {
        const sums = { crc: 0, size: 0, packed: 0 }
        const encoded = new TextEncoder().encode(name)
        const at = offset
        const descriptor = Effect.suspend(() => {
          entries.push({ name: encoded, at, ...sums })
          return sums.size > limit
            ? tooBig(limit)
            : Effect.succeed(
                record(0x08074b50, [
                  [4, sums.crc],
                  [4, sums.packed],
                  [4, sums.size]
                ])
              )
        })
        return Stream.succeed(localHeader(encoded)).pipe(
          Stream.concat(deflated(content, sums)),
          Stream.concat(Stream.fromEffect(descriptor))
        )
      })
    const written = counted(Stream.flatMap(Stream.fromIterable(files), file))
    return Stream.concat(
      written,
      Stream.suspend(() => Stream.succeed(directory(entries, offset)))
    )
  })

const tooBig = (limit: number) =>
  Effect.fail(
    new ValidationError({
      operation: "exportExcel",
      message: `a workbook holds ${limit} bytes and this one has more`,
      hint: "set a limit, name fewer columns, or export CSV"
    })
  )

/** Text through the platform's own compressor, which works beside this thread. */
const deflated = <E, R>(
  content: Stream.Stream<string, E, R>,
  sums: { crc: number; size: number; packed: number }
): Stream.Stream<Uint8Array, E, R> =>
  Stream.unwrapScoped(
    Effect.gen(function* () {
      const { readable, writable } = new CompressionStream("deflate-raw")
      const writer = writable.getWriter()
      const reader: ReadableStreamDefaultReader<Uint8Array> = readable.getReader()
      const encoder = new TextEncoder()
      /** The next piece is made while one is compressed. */
      let compressing = Promise.resolve()
      const write = (text: string) =>
        Effect.suspend(() => {
          const bytes = encoder.encode(text)
          sums.crc = crc32(bytes, sums.crc)
          sums.size += bytes.length
          const before = compressing
          compressing = writer.write(bytes)
          compressing.catch(() => {})
          return Effect.promise(() => before)
        })
      let waiting = ""
      const take = (texts: Iterable<string>) => {
        const whole: Array<string> = []
        for (const text of texts) {
          waiting += text
          if (waiting.length < atOnce) continue
          whole.push(waiting)
          waiting = ""
        }
        return whole
      }
      const pump = Stream.runForEachChunk(content, (texts) =>
        Effect.suspend(() => Effect.forEach(take(texts), write, { discard: true }))
      ).pipe(
        Effect.zipRight(Effect.suspend(() => write(waiting))),
        Effect.zipRight(Effect.promise(() => writer.close())),
        Effect.onExit((exit) =>
          Exit.isSuccess(exit) ? Effect.void : Effect.promise(() => writer.abort().catch(() => {}))
        )
      )
      yield* Effect.addFinalizer(() => Effect.promise(() => reader.cancel().catch(() => {})))
      const pumping = yield* Effect.forkScoped(pump)
      const next = Effect.tryPromise(() => reader.read()).pipe(
        Effect.catchAll((cause) => Effect.zipRight(Fiber.join(pumping), Effect.die(cause))),
        Effect.flatMap(({ done, value }) => {
          if (done) return Effect.zipRight(Fiber.join(pumping), Effect.fail(Option.none<E>()))
          sums.packed += value.length
          return Effect.succeed(value)
        }),
        Effect.mapError((error) => (Option.isOption(error) ? error : Option.some(error)))
      )
      return Stream.repeatEffectOption(next)
    })
  )

/** A signature and numbers of 2 or 4 bytes, little-endian. */
const record = (
  signature: number,
  fields: ReadonlyArray<readonly [2 | 4, number]>,
  ...tail: ReadonlyArray<Uint8Array>
): Uint8Array => {
  const fixed = fields.reduce((size, [width]) => size + width, 4)
  const bytes = new Uint8Array(tail.reduce((size, part) => size + part.length, fixed))
  const view = new DataView(bytes.buffer)
  view.setUint32(0, signature, true)
  let at = 4
  for (const [width, value] of fields) {
    if (width === 2) view.setUint16(at, value, true)
    else view.setUint32(at, value, true)
    at += width
  }
  for (const part of tail) {
    bytes.set(part, at)
    at += part.length
  }
  return bytes
}

/** Version 2.0; the sizes follow the content; names in UTF-8; deflate; 1 January 1980. */
const common = [
  [2, 20],
  [2, 0x0808],
  [2, 8],
  [2, 0],
  [2, 33]
] as const

const localHeader = (name: Uint8Array) =>
  record(0x04034b50, [...common, [4, 0], [4, 0], [4, 0], [2, name.length], [2, 0]], name)

const directory = (entries: ReadonlyArray<Entry>, offset: number): Uint8Array => {
  const headers = entries.map(({ at, crc, name, packed, size }) =>
    record(
      0x02014b50,
      [
        [2, 20],
        ...common,
        [4, crc],
        [4, packed],
        [4, size],
        [2, name.length],
        [2, 0],
        [2, 0],
        [2, 0],
        [2, 0],
        [4, 0],
        [4, at]
      ],
      name
    )
  )
  const size = headers.reduce((sum, header) => sum + header.length, 0)
  const count = entries.length
  const end = record(0x06054b50, [
    [2, 0],
    [2, 0],
    [2, count],
    [2, count],
    [4, size],
    [4, offset],
    [2, 0]
  ])
  const bytes = new Uint8Array(size + end.length)
  let at = 0
  for (const part of [...headers, end]) {
    bytes.set(part, at)
    at += part.length
  }
  return bytes
}
