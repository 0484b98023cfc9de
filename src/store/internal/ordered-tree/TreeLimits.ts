/** The sizes of a tree's files and directories. All writers of a tree must use the same ones. */
export interface TreeLimits {
  /**
   * The bytes of rows in a leaf; a single row may be larger. A random write falls into a leaf that is two thirds full.
   */
  readonly leaf: number
  /** The number of entries of a directory. */
  readonly directory: number
}

/**
 * With these limits an insert into a million rows of 57 bytes writes 18 kB before compression, two thirds of them in
 * directories. Smaller directories would write fewer bytes but need more levels, and each level may cost a request.
 */
export const formatLimits: TreeLimits = { leaf: 8192, directory: 128 }
