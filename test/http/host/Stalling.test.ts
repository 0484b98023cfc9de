import { connect } from "node:net"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { HostServer, layer as host } from "../../support/host/HostServer.js"
import * as Rest from "../../support/host/Rest.js"

/** What is answered to the beginning of a body whose rest never comes, until `enough` or the connection ends. */
const stalled = (path: string, headers: ReadonlyArray<string>, body: string, enough: RegExp) =>
  Effect.flatMap(HostServer, ({ url }) =>
    Effect.promise(
      () =>
        new Promise<string>((resolve) => {
          let answer = ""
          const head = [`POST ${path} HTTP/1.1`, "Host: 127.0.0.1", "User-Agent: test", ...headers]
          const chunked = `${body.length.toString(16)}\r\n${body}\r\n`
          const socket = connect(Number(new URL(url).port), "127.0.0.1", () =>
            socket.write(`${head.join("\r\n")}\r\nTransfer-Encoding: chunked\r\n\r\n${chunked}`)
          )
          socket.setTimeout(5000, () => socket.destroy())
          socket
            .on("data", (piece) => {
              answer += piece
              if (enough.test(answer)) socket.destroy()
            })
            .on("error", () => undefined)
            .on("close", () => resolve(answer))
        })
    )
  )

const git = (service: string) => `Content-Type: application/x-git-${service}-request`

layer(host({ bodyIdle: "200 millis", maxTransfers: 1, maxWaiting: 0 }), { timeout: 60_000 })(
  "a sender that stops",
  (it) => {
    it.effect("is told so, and gives its place to the next", () =>
      Effect.gen(function* () {
        const { token } = yield* HostServer
        yield* Rest.repository("stalled", { "a.json": "1\n" }, { private: false })
        const mine = `Authorization: Bearer ${token}`
        const blob = "/api/v3/repos/local/stalled/git/blobs"
        assert.match(
          yield* stalled(blob, [mine], '{"content":"', /in time/),
          /^HTTP\/1\.1 408 [\s\S]*in time/
        )
        const push = "/local/stalled.git/git-receive-pack"
        assert.match(yield* stalled(push, [mine, git("receive-pack")], "00", /in time/), /^HTTP\/1\.1 408 /)
        const fetched = "/local/stalled.git/git-upload-pack"
        yield* stalled(fetched, [git("upload-pack")], "0014", /never/)
        const packed = [git("upload-pack"), "Content-Encoding: gzip"]
        yield* stalled(fetched, packed, "\x1f", /never/)
        const archive = yield* Rest.get("/api/codeload/local/stalled/tar.gz/main")
        assert.strictEqual(archive.status, 200)
      })
    )
  }
)
