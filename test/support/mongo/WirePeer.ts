import type { AddressInfo } from "node:net"
import { createServer, type Socket } from "node:net"
import { BSON, type Document, Long } from "bson"
import { Effect } from "effect"

const opMsg = 2013
const opQuery = 2004
const opReply = 1

/**
 * A peer that speaks enough of MongoDB's wire protocol for the real driver to connect and to read one collection:
 * https://github.com/mongodb/specifications/tree/master/source/message. It knows `find` with limit, projection of
 * whole fields and batches, `getMore` and `killCursors`, and no filters but equality.
 */
export const mongoPeer = (documents: ReadonlyArray<Document>) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.async<{ readonly port: number; readonly killed: Array<string>; readonly stop: () => void }>(
        (resume) => {
          const sockets = new Set<Socket>()
          const state = { killed: [] as Array<string> }
          const server = createServer((socket) => {
            sockets.add(socket)
            const answer = commands(documents, state.killed)
            let pending = Buffer.alloc(0)
            socket.on("error", () => {})
            socket.on("close", () => sockets.delete(socket))
            socket.on("data", (data) => {
              pending = Buffer.concat([pending, data])
              while (pending.length >= 4 && pending.length >= pending.readInt32LE(0)) {
                const message = pending.subarray(0, pending.readInt32LE(0))
                pending = pending.subarray(message.length)
                const reply = respond(message, answer)
                if (reply !== undefined) socket.write(reply)
              }
            })
          })
          server.listen(0, "127.0.0.1", () => {
            const stop = () => {
              for (const socket of sockets) socket.destroy()
              server.close()
            }
            resume(
              Effect.succeed({ port: (server.address() as AddressInfo).port, killed: state.killed, stop })
            )
          })
        }
      ),
      (peer) => Effect.sync(peer.stop)
    ),
    ({ port, killed }) => ({ url: `mongodb://127.0.0.1:${port}/?directConnection=true`, killed })
  )

const respond = (message: Buffer, answer: (command: Document) => Document) => {
  const requestId = message.readInt32LE(4)
  const code = message.readInt32LE(12)
  if (code === opMsg) {
    const flags = message.readUInt32LE(16)
    const body = BSON.serialize(answer(BSON.deserialize(message.subarray(21), { promoteLongs: false })))
    if ((flags & 2) !== 0) return undefined
    return framed(requestId, opMsg, Buffer.concat([Buffer.alloc(5), body]))
  }
  if (code === opQuery) {
    const name = message.indexOf(0, 20)
    const body = BSON.serialize(answer(BSON.deserialize(message.subarray(name + 9))))
    const head = Buffer.alloc(20)
    head.writeInt32LE(1, 16)
    return framed(requestId, opReply, Buffer.concat([head, body]))
  }
  return undefined
}

const framed = (responseTo: number, code: number, body: Buffer) => {
  const head = Buffer.alloc(16)
  head.writeInt32LE(16 + body.length, 0)
  head.writeInt32LE(responseTo, 8)
  head.writeInt32LE(code, 12)
  return Buffer.concat([head, body])
}

const commands = (documents: ReadonlyArray<Document>, killed: Array<string>) => {
  const cursors = new Map<string, Array<Document>>()
  let next = 1n
  const batch = (rest: Array<Document>, size: number) => rest.splice(0, size)
  return (command: Document): Document => {
    if ("find" in command) {
      const filter: Document = command["filter"] ?? {}
      const fields: Document | undefined = command["projection"]
      const matching = documents
        .filter((document) => Object.entries(filter).every(([key, value]) => document[key] === Number(value)))
        .slice(0, Number(command["limit"] ?? 0) || undefined)
        .map((document) =>
          fields === undefined || Object.keys(fields).length === 0
            ? document
            : Object.fromEntries(
                Object.entries(document).filter(([key]) => key === "_id" || Number(fields[key]) === 1)
              )
        )
      const firstBatch = batch(matching, Number(command["batchSize"] ?? 101))
      const id = matching.length === 0 ? 0n : next++
      if (id !== 0n) cursors.set(String(id), matching)
      return { cursor: { firstBatch, id: Long.fromBigInt(id), ns: "test.things" }, ok: 1 }
    }
    if ("getMore" in command) {
      const id = String(command["getMore"])
      const rest = cursors.get(id) ?? []
      const nextBatch = batch(rest, Number(command["batchSize"] ?? 101))
      if (rest.length === 0) cursors.delete(id)
      return {
        cursor: { nextBatch, id: Long.fromString(rest.length === 0 ? "0" : id), ns: "test.things" },
        ok: 1
      }
    }
    if ("killCursors" in command) {
      for (const id of command["cursors"]) {
        cursors.delete(String(id))
        killed.push(String(id))
      }
      return {
        cursorsKilled: command["cursors"],
        cursorsNotFound: [],
        cursorsAlive: [],
        cursorsUnknown: [],
        ok: 1
      }
    }
    return {
      ok: 1,
      ismaster: true,
      isWritablePrimary: true,
      helloOk: true,
      maxBsonObjectSize: 16_777_216,
      maxMessageSizeBytes: 48_000_000,
      maxWriteBatchSize: 100_000,
      minWireVersion: 0,
      maxWireVersion: 21,
      readOnly: false
    }
  }
}
