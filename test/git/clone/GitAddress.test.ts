import { assert, it } from "@effect/vitest"
import { ValidationError } from "../../../src/domain/errors/StoreError.js"
import * as GitAddress from "../../../src/store/remote/wire/GitAddress.js"

const ssh = (host: string, path: string, user?: string, port?: number) => ({ user, host, port, path })

it.each(["file:///srv/data.git", "/srv/data.git", "./data.git", "../data.git"])(
  "%s is a directory, not an address without encryption",
  (given) => {
    const parsed = GitAddress.parse(given)
    assert.instanceOf(parsed, ValidationError)
    assert.strictEqual(
      parsed.message,
      `${JSON.stringify(given)} is a directory of this machine, not a Git server`
    )
  }
)

it.each([
  ["git@example.org:me/data.git", ssh("example.org", "me/data.git", "git")],
  ["example.org:/srv/data.git", ssh("example.org", "/srv/data.git")],
  ["[::1]:data.git", ssh("::1", "data.git")],
  ["ssh://me@example.org:2222/srv/my%20data.git/", ssh("example.org", "/srv/my data.git", "me", 2222)],
  ["ssh://example.org/~me/data.git", ssh("example.org", "~me/data.git")]
])("%s is reached by ssh as Git reaches it", (given, wanted) => {
  const parsed = GitAddress.parse(given)
  assert.isFalse(parsed instanceof ValidationError)
  assert.deepStrictEqual((parsed as { readonly address: unknown }).address, wanted)
})
