import { closeDialog, ModalDialog } from "../components/ModalDialog.js"
import { plural } from "../components/Plural.js"

/** Asks whether to keep or delete drafts at sign-out. */
export const SignOutDialog = (props: {
  readonly repo: string
  readonly drafts: number
  readonly onSignOut: (keepsDrafts: boolean) => void
  readonly onClose: () => void
}) => {
  const choose = (keepsDrafts: boolean) => () => {
    props.onClose()
    props.onSignOut(keepsDrafts)
  }
  return (
    <ModalDialog titleId="sign-out-title" onClose={props.onClose}>
      <h2 id="sign-out-title">Keep the drafts in this browser?</h2>
      <p>
        This browser has {plural(props.drafts, "unpublished draft")} of <bdi>{props.repo}</bdi>, on all
        branches together. Anyone who uses this browser can read drafts that you keep. Deleted drafts cannot
        be recovered.
      </p>
      <div class="actions end">
        <button type="button" class="button quiet" onClick={closeDialog}>
          Cancel
        </button>
        <button type="button" class="button plain" onClick={choose(false)}>
          Delete and sign out
        </button>
        <button type="button" class="button primary" onClick={choose(true)}>
          Keep and sign out
        </button>
      </div>
    </ModalDialog>
  )
}
