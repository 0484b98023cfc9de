import { assert, describe, it } from "@effect/vitest"
import {
  acceptedMessage,
  type ProposalText,
  printProposal,
  readProposal
} from "../../../src/store/internal/proposal/ProposalText.js"

const text: ProposalText = {
  id: "01J",
  title: "Price: 3",
  body: "One.\n\nTwo.",
  author: "Ada <ada@example.org>",
  into: "main",
  labels: ["a", "b: c"],
  state: "open"
}

describe("the message of a commit that marks a proposal", () => {
  it("is its title, its body and a last paragraph of trailers", () => {
    assert.strictEqual(
      printProposal(text),
      [
        "Price: 3",
        "",
        "One.",
        "",
        "Two.",
        "",
        "Chainstore-Proposal: 01J",
        "Chainstore-Proposal-Title: Price: 3",
        "Chainstore-Proposal-Author: Ada <ada@example.org>",
        "Chainstore-Proposal-Into: main",
        "Chainstore-Proposal-Label: a",
        "Chainstore-Proposal-Label: b: c",
        "Chainstore-Proposal-State: open"
      ].join("\n")
    )
    assert.strictEqual(
      printProposal({ ...text, body: " ", author: undefined, labels: [] }),
      [
        "Price: 3",
        "",
        "Chainstore-Proposal: 01J",
        "Chainstore-Proposal-Title: Price: 3",
        "Chainstore-Proposal-Into: main",
        "Chainstore-Proposal-State: open"
      ].join("\n")
    )
    assert.match(printProposal({ ...text, state: "closed" }), /^close: Price: 3\n/)
    assert.match(printProposal({ ...text, state: "accepted" }), /^accept: Price: 3\n/)
  })

  it("is read as it was written", () => {
    const least = { ...text, body: "", author: undefined, labels: [] }
    for (const written of [
      text,
      least,
      { ...text, state: "closed" },
      { ...text, state: "accepted" }
    ] as const) {
      assert.deepStrictEqual(readProposal(printProposal(written)), written)
      // Git and its hosts end a message by a line break, and some tools by Windows' one.
      assert.deepStrictEqual(readProposal(`${printProposal(written)}\n`), written)
      assert.deepStrictEqual(readProposal(`${printProposal(written)}\n\n`), written)
      assert.deepStrictEqual(readProposal(printProposal(written).replaceAll("\n", "\r\n")), written)
    }
  })

  it("has no space around its body, and none in its values", () => {
    assert.deepStrictEqual(readProposal(printProposal({ ...text, body: " \n\nOne.\n\n" }))?.body, "One.")
    assert.deepStrictEqual(readProposal(printProposal({ ...text, title: "x " }))?.title, "x")
  })

  it("is none without its trailers in the last paragraph", () => {
    const message = printProposal(text)
    const without = (trailer: string) =>
      message.replace(new RegExp(`^Chainstore-Proposal${trailer}: .*\n?`, "m"), "")
    for (const other of [
      "",
      "Price: 3",
      "Chainstore-Proposal: 01J",
      message.split("\n\n").at(-1)!,
      `${message}\n\nSigned-off-by: Ada`,
      without(""),
      without("-Title"),
      without("-Into"),
      without("-State"),
      message.replace("State: open", "State: opened")
    ])
      assert.isUndefined(readProposal(other), other)
  })

  it("keeps its trailers among others", () => {
    const others = [
      "Signed-off-by: Ada",
      "x Chainstore-Proposal-Into: b",
      "Chainstore-Proposal-1: x",
      "Chainstore-Proposal-Into:"
    ]
    assert.deepStrictEqual(readProposal(`${printProposal(text)}\n${others.join("\n")}`), text)
    const [heading, ...rest] = printProposal({ ...text, body: "" }).split("\n\n")
    assert.strictEqual(readProposal(`${heading}\n\nSigned-off-by: Ada\n${rest.join("")}`)?.id, text.id)
    // The first of two counts.
    assert.deepStrictEqual(
      readProposal(`${printProposal(text)}\nChainstore-Proposal-Into: other`)?.into,
      "main"
    )
  })
})

describe("the message of the commit that accepts a proposal", () => {
  const trailers = "Chainstore-Proposal: 01J\nChainstore-Proposal-State: accepted"

  it("names the proposal, with its number where it has one", () => {
    assert.strictEqual(acceptedMessage(text, undefined), `accept: Price: 3\n\n${trailers}`)
    assert.strictEqual(
      acceptedMessage({ ...text, number: 7 }, undefined),
      `accept: Price: 3 (#7)\n\n${trailers}`
    )
  })

  it("is what the caller says, above the trailers", () => {
    assert.strictEqual(acceptedMessage({ ...text, number: 7 }, "my own"), `my own\n\n${trailers}`)
  })
})
