import { readFileSync } from "node:fs"
import type { Server } from "node:http"
import type { Socket } from "node:net"
import { isBusy, lastActive } from "./ClientConnection.js"

/** As many connections as a server takes at most, however many descriptors there are. */
const maxDescriptors = 16_384

const openFiles = (): number => {
  try {
    const [, soft] = /^Max open files\s+(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8")) ?? []
    return soft === undefined ? Infinity : Number(soft)
  } catch {
    return 4096
  }
}

/**
 * How many connections leave enough file descriptors for what is done for them: files, and pipes to programs. Half of
 * them, or all but a thousand.
 */
export const fromOpenFiles = (): number => {
  const files = openFiles()
  return Math.max(1, Math.floor(Math.min(maxDescriptors, Math.max(files / 2, files - 1024))))
}

/**
 * Keeps the connections of servers below a number. When there are more, those that have waited longest for a next request
 * are ended, an eighth of all at a time; where every one is at work, the new one is.
 */
export const enforce = (servers: ReadonlyArray<Server>, maxConnections: number): void => {
  const open = new Map<Socket, number>()
  const closeIdle = (newest: Socket) => {
    const idle = Array.from(open, ([socket, since]) => ({ socket, since: lastActive(socket) ?? since }))
      .filter(({ socket }) => socket !== newest && !isBusy(socket))
      .sort((a, b) => a.since - b.since)
      .slice(0, Math.max(1, maxConnections >> 3))
    for (const { socket } of idle.length === 0 ? [{ socket: newest }] : idle) {
      open.delete(socket)
      socket.destroy()
    }
  }
  for (const server of servers) {
    server.on("connection", (socket: Socket) => {
      open.set(socket, performance.now())
      socket.once("close", () => open.delete(socket))
      if (open.size > maxConnections) closeIdle(socket)
    })
  }
}
