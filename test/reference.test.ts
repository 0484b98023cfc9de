import { assert, beforeAll, describe, it } from "@effect/vitest"
import { type DeclarationReflection, ReflectionKind, reflections } from "../build/reference/Reflections.js"

type Said = NonNullable<DeclarationReflection["comment"]>

/** The comments of a declaration: its own, or those of what it can be called by. */
const commentsOf = (one: DeclarationReflection): ReadonlyArray<Said> =>
  [
    one.comment,
    one.getSignature?.comment,
    ...(one.signatures ?? []).map(({ comment }) => comment),
    ...(one.type?.type === "reflection"
      ? (one.type.declaration.signatures ?? []).map(({ comment }) => comment)
      : [])
  ].filter((comment) => comment !== undefined)

const textOf = (comment: Said): string =>
  comment.summary
    .map(({ text }) => text)
    .join("")
    .trim()

/** What a reader knows without words: how errors are told apart, and what every `Error` has. */
const isKnown = ({ name, parent }: DeclarationReflection): boolean =>
  /^(_tag|\[.*\]|~types|prototype)$/.test(name) ||
  (/^(name|message)$/.test(name) && /(Error|Violation)$/.test(parent?.name ?? ""))

/** The fields of a value that has no name: the function or the field that has it describes them. */
const isNameless = (one: DeclarationReflection): boolean =>
  one.parent?.kindOf(ReflectionKind.TypeLiteral) === true

describe("the public declarations", () => {
  let exported: ReadonlyArray<DeclarationReflection>
  let members: ReadonlyArray<DeclarationReflection>
  let faults: ReadonlyArray<string>

  beforeAll(async () => {
    const { app, project } = await reflections()
    faults = app.logger.hasErrors() || app.logger.hasWarnings() ? ["TypeDoc has printed them"] : []
    const all = project
      .getReflectionsByKind(ReflectionKind.SomeExport | ReflectionKind.SomeMember | ReflectionKind.Namespace)
      .filter((one) => one.isDeclaration())
      // A re-export is described where it comes from.
      .filter((one) => !one.kindOf(ReflectionKind.Reference))
      .filter((one) => one.inheritedFrom === undefined && !one.flags.isExternal)
      .filter((one) => !one.kindOf(ReflectionKind.Constructor))
    const isExport = (one: DeclarationReflection) =>
      one.parent?.kindOf([ReflectionKind.Module, ReflectionKind.Namespace]) === true
    exported = all.filter(isExport)
    members = all.filter((one) => !isExport(one) && !isNameless(one) && !isKnown(one))
  }, 180_000)

  it("are read without a warning", () => assert.deepStrictEqual(faults, []))

  it("have a docstring each, members too", () => {
    assert.isAtLeast(exported.length, 600)
    assert.isAtLeast(members.length, 700)
    const lacking = [...exported, ...members]
      .filter((one) => !commentsOf(one).some((comment) => textOf(comment) !== ""))
      .map((one) => one.getFullName())
    assert.deepStrictEqual(lacking, [])
  })

  it("say since which version they are there, and what they belong to", () => {
    const lacking = exported.flatMap((one) => {
      const comments = commentsOf(one)
      const has = (tag: `@${string}`, form: RegExp) =>
        comments.some((comment) =>
          comment.getTags(tag).some(({ content }) => form.test(content.map(({ text }) => text).join("")))
        )
      return [
        ...(has("@since", /^\d+\.\d+\.\d+$/) ? [] : [`${one.getFullName()} has no @since`]),
        ...(has("@category", /^[a-z][a-z -]*$/) ? [] : [`${one.getFullName()} has no @category`])
      ]
    })
    assert.deepStrictEqual(lacking, [])
  })

  it("do not say the name in other words", () => {
    const words = (text: string) =>
      text
        .replace(/([a-z])([A-Z])/g, "$1 $2")
        .toLowerCase()
        .replace(/\b(the|a|an|of|this|its)\b|[^a-z ]/g, "")
        .split(/\s+/)
        .filter((word) => word !== "")
    const empty = [...exported, ...members].filter((one) => {
      const said = words(commentsOf(one).map(textOf).join(" "))
      const name = words(one.getFullName())
      return said.every((word) => name.includes(word))
    })
    assert.deepStrictEqual(
      empty.map((one) => one.getFullName()),
      []
    )
  })
})
