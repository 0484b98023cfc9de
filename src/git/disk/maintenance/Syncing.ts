import { fsyncPath, hasErrorCode } from "../files/FileOperations.js"

/**
 * Syncs a file or directory. Unless it must be durable, a disk that does not sync directories is tolerated. Otherwise it is tried
 * also then, because a maintenance deletes packs that may have been durable for long.
 */
export const syncPath = async (at: string, durable: boolean): Promise<void> => {
  try {
    await fsyncPath(at)
  } catch (cause) {
    if (durable || !hasErrorCode(cause, "EINVAL", "ENOTSUP", "EOPNOTSUPP", "ENOSYS")) throw cause
  }
}
