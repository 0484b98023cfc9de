import { ValidationError as UsageError } from "@effect/cli"
import { Cause, ConfigError, Predicate } from "effect"
import { StoreError, type WriteError } from "../domain/errors/StoreError.js"
import { DoctorFailed } from "./DoctorCommand.js"
import { escapeControls } from "./TerminalText.js"

/**
 * The exit codes of errors by tag. The others: 0 success, 1 a defect, 10 `doctor` found an error, 130 interrupted. See
 * `Help.ts` for the list that users see.
 */
export const exitCodes: Readonly<Record<WriteError["_tag"] | "SourceError" | "DestinationError", number>> = {
  ValidationError: 2,
  NotFoundError: 3,
  ConflictError: 4,
  AuthError: 5,
  RateLimitError: 6,
  RemoteError: 7,
  AmbiguousWriteError: 8,
  SourceError: 9,
  DestinationError: 9
}

export interface ExitReport {
  readonly code: number
  /** The message for standard error; undefined if it is printed already. */
  readonly message: string | undefined
}

/** The exit code and the message of a failure. */
export const exitReport = (cause: Cause.Cause<unknown>): ExitReport => {
  const { code, message } = describeFailure(cause)
  return { code, message: message === undefined ? undefined : escapeControls(message) }
}

const describeFailure = (cause: Cause.Cause<unknown>): ExitReport => {
  if (Cause.isInterruptedOnly(cause)) return { code: 130, message: undefined }
  const error = Cause.squash(cause)
  if (error instanceof DoctorFailed) return { code: 10, message: undefined }
  if (Predicate.isTagged(error, "QuitException")) return { code: 130, message: undefined }
  if (UsageError.isValidationError(error)) return { code: 2, message: undefined }
  if (error instanceof StoreError) {
    const hint = error.hint === undefined ? "" : `\n${error.hint}`
    const codes: Readonly<Record<string, number>> = exitCodes
    return { code: codes[error._tag] ?? 1, message: `${error._tag}: ${error.message}${hint}` }
  }
  if (ConfigError.isConfigError(error)) return { code: 2, message: `The settings are wrong: ${error}` }
  if (error instanceof Error) return { code: isFile(error) ? 9 : 1, message: error.message }
  return { code: 1, message: String(error) }
}

const isFile = (error: unknown) =>
  Predicate.isTagged(error, "SystemError") || Predicate.isTagged(error, "BadArgument")
