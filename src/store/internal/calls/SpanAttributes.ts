import type { StoreCore } from "../commit/StoreCore.js"

/** The attributes that the spans of all operations of a store have. */
export const spanAttributes = ({ branch, remote }: Pick<StoreCore, "branch" | "remote">) => ({
  repository: remote.repo ?? remote.name,
  branch
})
