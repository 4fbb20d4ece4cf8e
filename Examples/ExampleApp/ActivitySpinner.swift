import Linnet
import LinnetUIState

/// Draws a spinner while the activity indicator says that the network is at work: not at all when the answer comes fast.
@MainActor
final class ActivitySpinner {
    private let indicator = NetworkActivityIndicator(isEnabled: true)
    private let spinner: Spinner

    /// Makes a spinner that follows nothing yet.
    init(_ label: String, write: @escaping @MainActor (String) -> Void) {
        let spinner = Spinner(label, write: write)
        self.spinner = spinner
        indicator.onVisibilityChange = { $0 ? spinner.show() : spinner.hide() }
    }

    /// Shows the requests of a session.
    func follow(_ session: Session) {
        indicator.follow(session)
    }

    /// Takes the spinner off the screen for good.
    func end() {
        indicator.isEnabled = false
        spinner.hide()
    }
}
