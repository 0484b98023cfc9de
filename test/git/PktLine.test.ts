import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import {
  concatBytes,
  decodeBand,
  delimiter,
  encodePacket,
  flush,
  maxContentBytes,
  type Packet,
  PacketReader,
  ProtocolError,
  packetText
} from "../../src/git/protocol/PktLine.js"

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
const text = (content: Uint8Array): string => new TextDecoder().decode(content)

/** Packets as texts: the content of a packet, or the name of a special packet. */
const shown = (packets: ReadonlyArray<Packet>) =>
  packets.map((packet) => (packet._tag === "Data" ? text(packet.content) : `<${packet._tag}>`))

const read = (input: string | Uint8Array) =>
  shown(new PacketReader().push(typeof input === "string" ? bytes(input) : input))

const failure = (run: () => unknown): ProtocolError => {
  try {
    run()
  } catch (error) {
    if (error instanceof ProtocolError) return error
    throw error
  }
  return assert.fail("nothing was thrown")
}

describe("pkt-lines", () => {
  it("are the examples of gitprotocol-common", () => {
    assert.deepStrictEqual(read("0006a\n0005a000bfoobar\n0004"), ["a\n", "a", "foobar\n", ""])
    assert.strictEqual(text(encodePacket("foobar\n")), "000bfoobar\n")
    assert.strictEqual(text(encodePacket("")), "0004")
    assert.strictEqual(text(concatBytes([flush, delimiter, encodePacket("ü")])), "000000010006ü")
    assert.deepStrictEqual(read("0000000100020006a\n"), ["<Flush>", "<Delimiter>", "<ResponseEnd>", "a\n"])
    assert.deepStrictEqual(read("000Bfoobar\n"), ["foobar\n"])
  })

  it("are read from pieces of any size", () => {
    const packet = FastCheck.oneof(
      FastCheck.constantFrom(flush, delimiter),
      FastCheck.uint8Array({ maxLength: 40 }).map(encodePacket)
    )
    FastCheck.assert(
      FastCheck.property(FastCheck.array(packet), FastCheck.array(FastCheck.nat(20)), (packets, cuts) => {
        const whole = concatBytes(packets)
        const reader = new PacketReader()
        const found: Array<Packet> = []
        let at = 0
        for (const cut of cuts) {
          found.push(...reader.push(whole.subarray(at, at + cut)))
          at = Math.min(whole.length, at + cut)
        }
        found.push(...reader.push(whole.subarray(at)))
        assert.deepStrictEqual(found, [...new PacketReader().push(whole)])
        assert.strictEqual(found.length, packets.length)
        reader.end()
        assert.strictEqual(reader.remaining().length, 0)
      })
    )
  })

  it("have at most 65,516 bytes of content", () => {
    const largest = new Uint8Array(maxContentBytes).fill(0x61)
    assert.strictEqual(text(encodePacket(largest).subarray(0, 4)), "fff0")
    assert.deepStrictEqual(
      read(encodePacket(largest)).map(({ length }) => length),
      [65_516]
    )
    const larger = failure(() => read(encodePacket(new Uint8Array(maxContentBytes + 1))))
    assert.deepStrictEqual(
      [larger.kind, larger.message],
      ["malformed", 'a packet begins with "fff1" instead of its length']
    )
  })

  it("that do not begin with a length are malformed", () => {
    for (const head of ["0003", "HTTP", "00 5", "+005", "0x05", "-001", "00g0"]) {
      const { kind, message } = failure(() => read(`0005a${head}rest`))
      assert.deepStrictEqual(
        [kind, message],
        ["malformed", `a packet begins with ${JSON.stringify(head)} instead of its length`]
      )
    }
  })

  it("end only after a whole packet", () => {
    for (const part of ["0", "000", "0006", "0006a"]) {
      const reader = new PacketReader()
      assert.deepStrictEqual(reader.push(bytes(`0005x${part}`)).length, 1, part)
      assert.deepStrictEqual(
        [failure(() => reader.end()).kind, failure(() => reader.end()).message],
        ["malformed", "the response ends inside a packet"]
      )
      assert.strictEqual(text(reader.remaining()), part)
      reader.end()
    }
  })

  it("are decoded up to the last packet, and the bytes behind it remain", () => {
    const reader = new PacketReader()
    const isFlush = (packet: Packet) => packet._tag === "Flush"
    assert.deepStrictEqual(shown(reader.push(bytes("0005a00"), isFlush)), ["a"])
    assert.deepStrictEqual(shown(reader.push(bytes("000005b0000PACK not a packet"), isFlush)), ["<Flush>"])
    assert.strictEqual(text(reader.remaining()), "0005b0000PACK not a packet")
    assert.deepStrictEqual(shown(reader.push(bytes("0005c"))), ["c"])
  })

  it("are texts without one final line feed", () => {
    assert.strictEqual(packetText(bytes("a\nb\n\n")), "a\nb\n")
    assert.strictEqual(packetText(bytes("a\nb")), "a\nb")
  })

  it("of a side band are data, progress or an error", () => {
    const band = (number: number, content: string) => concatBytes([Uint8Array.of(number), bytes(content)])
    assert.deepStrictEqual(decodeBand(band(1, "PACK")), { _tag: "Data", content: bytes("PACK") })
    assert.deepStrictEqual(decodeBand(band(2, "50 %\r")), { _tag: "Progress", text: "50 %\r" })
    const refused = failure(() => decodeBand(band(3, "no space left\n")))
    assert.deepStrictEqual([refused.kind, refused.message], ["refused", "no space left"])
    const unknown = failure(() => decodeBand(band(4, "x")))
    assert.deepStrictEqual(
      [unknown.kind, unknown.message],
      ["malformed", "a packet is of the unknown band 4"]
    )
    assert.strictEqual(
      failure(() => decodeBand(new Uint8Array(0))).message,
      "a packet is of the unknown band nothing"
    )
  })
})
