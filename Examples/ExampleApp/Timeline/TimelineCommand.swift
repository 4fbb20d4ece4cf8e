/// A command of the user, in each face of the app. Its first letter is its key.
enum TimelineCommand: String, CaseIterable, Sendable {
    /// Loads the timeline.
    case refresh
    /// Downloads the attachment of a post.
    case download
    /// Uploads the picture of a post's user.
    case upload
    /// Suspends the transfer, or resumes it.
    case suspend
    /// Cancels the transfer.
    case cancel

    var key: String { String(rawValue.prefix(1)) }
}
