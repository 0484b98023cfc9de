import * as Logger from "effect/Logger"

/** Log lines on standard error: standard output belongs to the program. */
export const layer = Logger.replace(Logger.defaultLogger, Logger.withConsoleError(Logger.stringLogger))
