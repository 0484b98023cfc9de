import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as Effect from "effect/Effect"
import * as Encoding from "effect/Encoding"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import { AuthError } from "../../../../domain/errors/StoreError.js"
import { type Address, isGitHubCloud } from "../client/Address.js"
import type { Client } from "../client/Client.js"
import type { Credential } from "../client/Credentials.js"

const operation = "GitHub.push"

/** The user whose password is the token, for Git URLs: https://docs.github.com/apps/creating-github-apps/authenticating-with-a-github-app/authenticating-as-a-github-app-installation */
const user = "x-access-token"

/** Converts an `Authorization` header of the API to one for Git URLs, which reply 401 to `Bearer`. */
export const toBasicAuth = (header: Redacted.Redacted<string>): Redacted.Redacted<string> => {
  const [, token] = /^(?:bearer|token) +(.+)$/i.exec(Redacted.value(header)) ?? []
  return token === undefined ? header : Redacted.make(`Basic ${Encoding.encodeBase64(`${user}:${token}`)}`)
}

const headerOf = ({ header }: Credential) =>
  Option.match(header, {
    onNone: () =>
      Effect.fail(
        new AuthError({
          operation,
          message: "there is no token to push with",
          hint: "give a token that may write to the repository's contents"
        })
      ),
    onSome: (found) => Effect.succeed(toBasicAuth(found))
  })

/** The Git URL of a repository. */
export const gitAddress = ({ api, owner, repo }: Address) => {
  const url = new URL(api)
  // The API of github.com and of ghe.com tenants has its own host name. On other servers it is a path.
  if (isGitHubCloud({ api })) url.hostname = url.hostname.slice("api.".length)
  const path = url.pathname.replace(/\/(api\/v3)?$/, "")
  return `${url.origin}${path}/${owner}/${repo}.git`
}

/** The authorization of Git requests, and a client that renews a refused header. */
export const makePushCredentials = ({ credentials }: Client, http: HttpClient.HttpClient) => {
  const auth = credentials.current.pipe(
    Effect.catchTag("ApiFailure", ({ message }) => new AuthError({ operation, message })),
    Effect.flatMap(headerOf)
  )
  const session = HttpClient.transform(http, (answer, request) =>
    Effect.flatMap(answer, (response) =>
      response.status !== 401
        ? Effect.succeed(response)
        : credentials.current.pipe(
            Effect.flatMap(credentials.refused),
            Effect.flatMap((renewable) => (renewable ? Effect.option(auth) : Effect.succeedNone)),
            Effect.orElseSucceed(() => Option.none()),
            Effect.flatMap((header) =>
              Option.isNone(header)
                ? Effect.succeed(response)
                : http.execute(
                    HttpClientRequest.setHeader(request, "authorization", Redacted.value(header.value))
                  )
            )
          )
    )
  )
  return { ...(credentials.present ? { auth } : {}), session }
}
