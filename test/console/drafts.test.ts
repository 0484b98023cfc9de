import { afterEach, assert, beforeEach, describe, it, vi } from "@effect/vitest"
import { FastCheck as fc } from "effect"
import {
  deleteDrafts,
  draftKeys,
  draftPrefix,
  repositoryDraftPrefix
} from "../../src/console/drafts/DraftKeys.js"
import * as Drafts from "../../src/console/drafts/Drafts.js"
import type { SessionView } from "../../src/http/console/Api.js"

/** A browser's storage: its keys are its own properties, and it takes so many characters. */
const storage = (room = Number.POSITIVE_INFINITY) => {
  const values: Record<string, string> = {}
  const used = () => Object.entries(values).reduce((sum, [key, value]) => sum + key.length + value.length, 0)
  const methods = {
    getItem: (key: string) => (Object.hasOwn(values, key) ? values[key]! : null),
    setItem: (key: string, value: string) => {
      if (used() + key.length + value.length - (values[key]?.length ?? -key.length) > room) {
        throw new DOMException("full", "QuotaExceededError")
      }
      values[key] = value
    },
    removeItem: (key: string) => {
      delete values[key]
    }
  }
  return new Proxy(values, {
    get: (target, name) => Reflect.get(name in methods ? methods : target, name)
  }) as unknown as typeof methods
}

const session = (change: Partial<SessionView> = {}) =>
  ({ api: "https://api.test", repo: "test/shop", branch: "main", root: "data", ...change }) as SessionView

const drafts = draftPrefix(session())
const edit = { collection: "notes", id: "a", base: null, text: '{"n": 1}' }
const place = { collection: "notes", id: "a" }

const saved = (...[of, change, seen]: Parameters<typeof Drafts.save>): Drafts.Draft => {
  const found = Drafts.save(of, change, seen)
  if (typeof found === "string") assert.fail(`the draft was not saved: ${found}`)
  return found.draft
}

describe("drafts in the browser's storage", () => {
  let told = 0

  beforeEach(() => {
    told = 0
    vi.stubGlobal("localStorage", storage())
    vi.stubGlobal("dispatchEvent", () => ++told)
  })
  afterEach(() => {
    vi.unstubAllGlobals()
  })

  it("have keys of API, repository, branch, root, collection and id, for drafts that are stored already", () => {
    saved(drafts, edit, undefined)
    assert.deepStrictEqual(Object.keys(localStorage), [
      'chainstore.draft ["https://api.test","test/shop","main","data"] ["notes","a"]'
    ])
  })

  it("notify a tab whose change another tab overwrote at the same moment", async () => {
    const first = saved(drafts, edit, undefined)
    vi.resetModules()
    const other: typeof Drafts = await import("../../src/console/drafts/Drafts.js")
    const followed = other.save(drafts, { ...edit, text: '{"n": 2}' }, first.stamp)
    const later = typeof followed === "string" ? assert.fail(followed) : followed.draft
    assert.isFalse(Drafts.isOverwritten(first, later), "it has seen what it overwrote")
    const key = Drafts.draftKey(drafts, place)
    const before = localStorage.getItem(key)!
    const mine = saved(drafts, { ...edit, text: '{"n": 3}' }, later.stamp)
    // The other tab has a copy of the storage that has not heard of this yet.
    localStorage.setItem(key, before)
    const raced = other.save(drafts, { ...edit, text: '{"n": 4}' }, later.stamp)
    const winner = typeof raced === "string" ? assert.fail(raced) : raced.draft
    assert.isTrue(Drafts.isOverwritten(mine, winner))
    assert.isFalse(other.isOverwritten(winner, winner))
    assert.isFalse(Drafts.isOverwritten(later, winner), "what another tab has saved is not of this one")
    assert.isFalse(Drafts.isOverwritten(mine, undefined), "nothing is known of a draft that is gone")
    const kept = saved(drafts, mine, winner.stamp)
    assert.isFalse(other.isOverwritten(winner, kept))
  })

  it.prop(
    "are those of one branch and root alone, whatever these are called",
    [fc.string(), fc.string(), fc.string(), fc.string(), fc.string(), fc.string()],
    ([repo, otherRepo, branch, otherBranch, collection, id]) => {
      vi.stubGlobal("localStorage", storage())
      const here = session({ repo, branch })
      const there = session({ repo: otherRepo, branch: otherBranch })
      const change = { ...edit, collection, id }
      const draft = saved(draftPrefix(here), change, undefined)
      assert.deepStrictEqual(Drafts.list(draftPrefix(here)), [draft])
      const isSameRepository = repo.toLowerCase() === otherRepo.toLowerCase()
      const isSame = isSameRepository && branch === otherBranch
      assert.strictEqual(Drafts.list(draftPrefix(there)).length, isSame ? 1 : 0)
      assert.strictEqual(draftKeys(repositoryDraftPrefix(there)).length, isSameRepository ? 1 : 0)
    }
  )

  it("have another stamp with each change, and come back as they were", () => {
    const first = saved(drafts, { ...edit, settled: { against: "sha", theirs: [["a", 0]] } }, undefined)
    const second = saved(drafts, edit, first.stamp)
    assert.notStrictEqual(second.stamp, first.stamp)
    assert.deepStrictEqual(Drafts.read(drafts, place), second)
    assert.deepStrictEqual(Drafts.toStagedEdit(second), { ...edit, settled: undefined, stamp: second.stamp })
    assert.strictEqual(told, 2)
  })

  it("of two tabs, the one that has not seen the other's change overwrites and discards nothing", () => {
    const seen = saved(drafts, edit, undefined)
    const other = saved(drafts, { ...edit, text: "{}" }, seen.stamp)
    assert.strictEqual(Drafts.save(drafts, edit, seen.stamp), "elsewhere")
    assert.strictEqual(Drafts.save(drafts, edit, undefined), "elsewhere")
    assert.isFalse(Drafts.discard(drafts, seen))
    assert.deepStrictEqual(Drafts.list(drafts), [other])
    assert.isTrue(Drafts.discard(drafts, other))
    assert.strictEqual(Drafts.save(drafts, edit, other.stamp), "elsewhere")
    assert.deepStrictEqual(Drafts.list(drafts), [])
    assert.isTrue(Drafts.discard(drafts, other), "it is gone already")
  })

  it("of many that are discarded at once, those that changed stay, and each listener is called once", () => {
    const all = ["a", "b", "c"].map((id) => saved(drafts, { ...edit, id }, undefined))
    const changed = saved(drafts, { ...edit, id: "b", text: null }, all[1]!.stamp)
    told = 0
    assert.isFalse(Drafts.discard(drafts, ...all))
    assert.deepStrictEqual(Drafts.list(drafts), [changed])
    assert.strictEqual(told, 1)
  })

  it("in a full storage leave the one that was kept before", () => {
    vi.stubGlobal("localStorage", storage(600))
    const first = saved(drafts, edit, undefined)
    told = 0
    assert.strictEqual(Drafts.save(drafts, { ...edit, text: "x".repeat(600) }, first.stamp), "full")
    assert.deepStrictEqual(Drafts.read(drafts, place), first)
    assert.strictEqual(told, 0)
  })

  it("without a storage are none, and are not kept", () => {
    vi.stubGlobal("localStorage", undefined)
    assert.deepStrictEqual(Drafts.list(drafts), [])
    assert.deepStrictEqual(Drafts.listUnreadable(drafts), [])
    assert.isUndefined(Drafts.read(drafts, place))
    assert.strictEqual(Drafts.save(drafts, edit, undefined), "full")
  })

  it("that cannot be read are listed by their names, are not overwritten unseen, and can be discarded", () => {
    const kept = saved(drafts, edit, undefined)
    const text = JSON.stringify(kept)
    const broken: Readonly<Record<string, string>> = {
      '["notes","torn"]': text.slice(0, 20),
      '["notes","newer"]': JSON.stringify({ ...kept, id: "newer", text: 5 }),
      '["notes","moved"]': text,
      '["notes","empty"]': "",
      "no place": text,
      '["notes","deep"]': "[".repeat(100_000)
    }
    for (const [key, value] of Object.entries(broken)) localStorage.setItem(`${drafts}${key}`, value)
    assert.deepStrictEqual(Drafts.list(drafts), [kept])
    const listed = Drafts.listUnreadable(drafts)
    assert.sameMembers(
      listed.map(({ name }) => name),
      ["notes/torn", "notes/newer", "notes/moved", "notes/empty", "no place", "notes/deep"]
    )
    const torn = { collection: "notes", id: "torn" }
    assert.strictEqual(Drafts.save(drafts, { ...edit, ...torn }, undefined), "elsewhere")
    saved(drafts, { ...edit, ...torn }, Drafts.stampOf(drafts, torn))
    for (const one of listed) {
      assert.strictEqual(Drafts.discardUnreadable(drafts, one), one.name !== "notes/torn", one.name)
    }
    assert.deepStrictEqual(
      Drafts.list(drafts).map(({ id }) => id),
      ["a", "torn"]
    )
    assert.deepStrictEqual(Drafts.listUnreadable(drafts), [])
  })

  it("of a repository are deleted on all its branches, and of no other", () => {
    for (const change of [{}, { branch: "next" }, { root: "" }, { repo: "test/shop2" }, { api: "b" }]) {
      saved(draftPrefix(session(change)), edit, undefined)
    }
    localStorage.setItem(`${drafts}torn`, "torn")
    deleteDrafts(repositoryDraftPrefix(session()))
    assert.strictEqual(Object.keys(localStorage).length, 2)
  })
})
