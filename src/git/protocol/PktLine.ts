/** What is wrong with what a server says: its bytes are not those of Git's protocol, or it reports an error of its own. */
export class ProtocolError extends Error {
  constructor(
    /** `malformed`: not Git's protocol. `refused`: an error that the server reports. `large`: more than was asked to take. */
    readonly kind: "malformed" | "refused" | "large",
    message: string
  ) {
    super(message)
  }
}

/** A packet: its content, or one of the marks without any. See gitprotocol-common(5), "pkt-line Format". */
export type Packet =
  | { readonly _tag: "Data"; readonly content: Uint8Array }
  | { readonly _tag: "Flush" }
  | { readonly _tag: "Delimiter" }
  | { readonly _tag: "ResponseEnd" }

const encoder = new TextEncoder()
const decoder = new TextDecoder()

/** The most that one packet holds: 65,520 bytes with its length. */
export const mostContent = 65_516

const marks: Readonly<Record<number, Packet>> = {
  0: { _tag: "Flush" },
  1: { _tag: "Delimiter" },
  2: { _tag: "ResponseEnd" }
}

export const flush: Uint8Array = encoder.encode("0000")
export const delimiter: Uint8Array = encoder.encode("0001")

/** One packet with a content. */
export const packet = (content: string | Uint8Array): Uint8Array => {
  const bytes = typeof content === "string" ? encoder.encode(content) : content
  const whole = new Uint8Array(bytes.length + 4)
  whole.set(encoder.encode((bytes.length + 4).toString(16).padStart(4, "0")))
  whole.set(bytes, 4)
  return whole
}

/** The text of a packet without the line feed that may end it. */
export const textOf = (content: Uint8Array): string => decoder.decode(content).replace(/\n$/, "")

export const joined = (parts: ReadonlyArray<Uint8Array>): Uint8Array => {
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}

/** Cuts bytes, in whatever pieces they come, into packets. */
export class PacketReader {
  private rest: Uint8Array = new Uint8Array(0)

  /**
   * The packets that are whole with these bytes; throws a `ProtocolError` where they are none. Nothing is cut after a
   * packet that is the last one: see `remaining`.
   */
  push(bytes: Uint8Array, isLast: (packet: Packet) => boolean = () => false): ReadonlyArray<Packet> {
    const all = this.rest.length === 0 ? bytes : joined([this.rest, bytes])
    const packets: Array<Packet> = []
    let at = 0
    while (all.length - at >= 4) {
      const last = packets.at(-1)
      if (last !== undefined && isLast(last)) break
      const head = decoder.decode(all.subarray(at, at + 4))
      const length = /^[0-9a-fA-F]{4}$/.test(head) ? Number.parseInt(head, 16) : 3
      const mark = marks[length]
      if (mark !== undefined) {
        packets.push(mark)
        at += 4
        continue
      }
      if (length < 4 || length > mostContent + 4) {
        throw new ProtocolError(
          "malformed",
          `a packet begins with ${JSON.stringify(head)}, not with its length`
        )
      }
      if (all.length - at < length) break
      packets.push({ _tag: "Data", content: all.subarray(at + 4, at + length) })
      at += length
    }
    this.rest = at === all.length ? new Uint8Array(0) : all.slice(at)
    return packets
  }

  /** Takes the bytes that are not cut into packets. */
  remaining(): Uint8Array {
    const { rest } = this
    this.rest = new Uint8Array(0)
    return rest
  }

  /** Throws where the bytes ended inside a packet. */
  end(): void {
    if (this.rest.length > 0) throw new ProtocolError("malformed", "the answer ends inside a packet")
  }
}

/** What one packet of a side band carries: gitprotocol-pack(5), "side-band-64k". */
export type Band =
  | { readonly _tag: "Data"; readonly content: Uint8Array }
  | { readonly _tag: "Progress"; readonly text: string }

/** Throws a `ProtocolError` with the server's own words where the packet carries an error. */
export const bandOf = (content: Uint8Array): Band => {
  const rest = content.subarray(1)
  switch (content[0]) {
    case 1:
      return { _tag: "Data", content: rest }
    case 2:
      return { _tag: "Progress", text: decoder.decode(rest) }
    case 3:
      throw new ProtocolError("refused", textOf(rest))
    default:
      throw new ProtocolError("malformed", `a packet is of the unknown band ${content[0] ?? "nothing"}`)
  }
}
