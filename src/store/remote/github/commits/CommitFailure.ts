import type { RefMoved } from "../../../../domain/errors/RefMoved.js"
import type {
  AmbiguousWriteError,
  ConflictError,
  NotFoundError,
  RemoteError,
  ValidationError
} from "../../../../domain/errors/StoreError.js"
import type { CallFailure } from "../client/Client.js"

export type CommitFailure =
  | CallFailure
  | RefMoved
  | AmbiguousWriteError
  | ConflictError
  | NotFoundError
  | RemoteError
  | ValidationError
