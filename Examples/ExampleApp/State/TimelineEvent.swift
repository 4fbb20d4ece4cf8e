import FoundationEssentials
import LinnetImageSerialization

/// An event of the app.
enum TimelineEvent: Sendable {
    /// The app has started.
    case started
    case key(Key)
    /// A command of the web page.
    case command(TimelineCommand)
    case resized(TerminalSize)
    /// Time has passed.
    case tick(Date)
    /// The observable objects have other values.
    case live(LiveState)
    case loaded([Post], ResponseFacts)
    /// A request failed; with the facts about the connection, if its certificate was refused.
    case failed(String, refusal: [String] = [])
    case avatar(User, Bitmap)
    /// The app is to end, with this exit code.
    case ended(Int32)
}

/// A command of the user.
enum TimelineCommand: Sendable, Hashable {
    case refresh
    /// Downloads the attachment of a post, by default the selected one.
    case download(post: Int?)
    /// Suspends the transfer, or resumes it.
    case suspend
    case cancel
    case upload
}

/// The app's action after an event.
enum TimelineEffect: Sendable, Hashable {
    case refresh
    case loadAvatars([User])
    case download(Attachment)
    case upload
    case suspendOrResume
    case cancelTransfer
}
