import Linnet
import LinnetUIState

/// Draws a spinner while the network activity indicator is visible. Fast responses show no spinner.
@MainActor
final class ActivitySpinner {
    private let indicator = NetworkActivityIndicator(isEnabled: true, following: [])
    private let spinner: Spinner

    /// Creates a spinner that follows no session.
    init(_ label: String, write: @escaping @MainActor (String) -> Void) {
        let spinner = Spinner(label, write: write)
        self.spinner = spinner
        indicator.onVisibilityChange = { $0 ? spinner.show() : spinner.hide() }
    }

    /// Shows the requests of a session.
    func follow(_ session: HTTPSession) {
        indicator.follow(session)
    }

    /// Hides the spinner permanently.
    func end() {
        indicator.isEnabled = false
        spinner.hide()
    }
}
