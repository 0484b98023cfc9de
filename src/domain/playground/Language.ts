import * as Schema from "effect/Schema"

/** One port of the chain library to a language, and how to install it. */
export const Language = Schema.Struct({
  language: Schema.String.annotations({ description: "Name of the language" }),
  package: Schema.String.annotations({ description: "Package name" }),
  install: Schema.String.annotations({ description: "Install command" }),
  documentation: Schema.String.annotations({
    description: "Link to the port's documentation",
    jsonSchema: { type: "string", format: "uri" }
  })
}).annotations({ identifier: "Language" })

/** One port of the chain library to a language, and how to install it. */
export type Language = typeof Language.Type

/** The response of `GET /v1/languages`. */
export const LanguageList = Schema.Struct({ languages: Schema.Array(Language) }).annotations({
  identifier: "LanguageList",
  description: "One entry per language port",
  examples: [
    {
      languages: [
        {
          language: "Node",
          package: "@charles2ke/messageflow",
          install: "npm install @charles2ke/messageflow",
          documentation: "https://github.com/charles2ke/Message-Flow/blob/main/node/README.md"
        }
      ]
    }
  ]
})

/** The response of `GET /v1/languages`. */
export type LanguageList = typeof LanguageList.Type

const readme = (path: string) => `https://github.com/charles2ke/Message-Flow/blob/main/${path}`

/** The ports to other languages, in the order of the response. */
export const otherPorts: ReadonlyArray<Language> = [
  {
    language: "C#",
    package: "MessageFlow",
    install: "dotnet add package MessageFlow",
    documentation: "https://github.com/charles2ke/Message-Flow#readme"
  },
  {
    language: "Java",
    package: "io.github.charles2ke:messageflow",
    install: "mvn dependency:get -Dartifact=io.github.charles2ke:messageflow:1.0.0",
    documentation: readme("java/README.md")
  },
  {
    language: "Python",
    package: "messageflow",
    install: "pip install messageflow",
    documentation: readme("python/README.md")
  },
  {
    language: "Node",
    package: "@charles2ke/messageflow",
    install: "npm install @charles2ke/messageflow",
    documentation: readme("node/README.md")
  }
]
