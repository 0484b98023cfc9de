import { execFileSync } from "node:child_process"
import { join } from "node:path"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { HostServer, layer as host } from "../../support/host/HostServer.js"
import * as Rest from "../../support/host/Rest.js"

const person = ["-c", "user.name=a", "-c", "user.email=a@localhost"]

layer(host(), { timeout: 60_000 })("a pull request as patches", (it) => {
  // docs/host.md and GitHub: one patch e-mail for each commit of the pull request, as `GET .../commits` lists them.
  it.effect(
    "has a mail for each of its own commits, also where both branches were merged into each other",
    () =>
      Effect.gen(function* () {
        const { directory } = yield* HostServer
        yield* Rest.repository("crossed", { "a.txt": "a\n" })
        const at = "/repos/local/crossed"
        const bare = join(directory, "repos/local/crossed.git")
        const git = (...args: ReadonlyArray<string>) =>
          execFileSync("git", ["-C", bare, ...person, ...args], { encoding: "utf8" }).trim()
        const put = (branch: string, path: string) =>
          Rest.request("PUT", `${at}/contents/${path}`, {
            body: { message: `write ${path}`, content: Rest.base64(`${path}\n`), branch }
          })
        const first = git("rev-parse", "main")
        yield* Rest.request("POST", `${at}/git/refs`, { body: { ref: "refs/heads/topic", sha: first } })
        yield* put("topic", "topic1.txt")
        yield* put("main", "main1.txt")
        const [mine, theirs] = [git("rev-parse", "topic"), git("rev-parse", "main")]
        // Each is merged into the former head of the other.
        for (const [branch, from] of [
          ["topic", theirs],
          ["main", mine]
        ] as const) {
          const merged = yield* Rest.request("POST", `${at}/merges`, { body: { base: branch, head: from } })
          assert.strictEqual(merged.status, 201, merged.text)
        }
        yield* put("topic", "topic2.txt")
        const made = yield* Rest.request("POST", `${at}/pulls`, {
          body: { title: "Crossed", head: "topic", base: "main" }
        })
        assert.strictEqual(made.status, 201, made.text)
        const commits = yield* Rest.get(`${at}/pulls/1/commits`)
        const own = commits.body
          .map(({ commit }: Rest.Json) => commit.message as string)
          .filter((message: string) => message.startsWith("write"))
        assert.deepStrictEqual(own, ["write topic2.txt"])
        const patch = yield* Rest.get(`${at}/pulls/1`, {
          headers: { accept: "application/vnd.github.patch" }
        })
        const mails = [...patch.text.matchAll(/^Subject: \[PATCH[^\]]*\] (.*)$/gm)].map(
          ([, subject]) => subject
        )
        assert.deepStrictEqual(mails, own)
      })
  )
})
