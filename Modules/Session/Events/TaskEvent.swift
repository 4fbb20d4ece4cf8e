public import FoundationEssentials

/// An event of one of a session's requests.
///
/// For each ``taskID`` the events come in the order in which they happened, each change once, `completed` last and exactly
/// once. A subscriber receives events from its subscription on, so the first event for an ID can be of any kind.
public struct TaskEvent: Sendable {
    /// What happened.
    public enum Kind: Sendable {
        /// A handle was made, suspended.
        case created
        /// The request was started, or continued after a suspension.
        case resumed
        /// The request was suspended.
        case suspended
        /// The request ended, with its error, or nil on success.
        case completed(SessionError?)
    }

    /// The request's ID, unique in the process.
    public let taskID: UInt64
    /// What happened.
    public let kind: Kind
    /// The request's URL; nil when it could not be made.
    public let url: URL?
    /// The request's `RequestOptions.tag`.
    public let tag: String?
    /// The handle's description.
    public let taskDescription: String?
}
