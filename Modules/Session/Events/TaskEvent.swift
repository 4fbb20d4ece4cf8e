public import FoundationEssentials

/// Something that happened to one of a session's requests.
///
/// For each ``taskID`` the events come in the order in which they happened, each change once, `completed` last and
/// exactly once. A subscriber sees what happens after it subscribed, and may so meet an ID for the first time in any of them.
public struct TaskEvent: Sendable {
    /// What happened.
    public enum Kind: Sendable {
        /// A handle was made, suspended.
        case created
        /// The request was started, or went on after a suspension.
        case resumed
        /// The request was held back.
        case suspended
        /// The request ended: with its error, or nil when it went well.
        case completed(SessionError?)
    }

    /// The request's number. No two requests of a process have the same.
    public let taskID: UInt64
    /// What happened.
    public let kind: Kind
    /// Where the request goes; nil when it could not be made.
    public let url: URL?
    /// What `RequestOptions.tag` says.
    public let tag: String?
    /// The handle's description.
    public let taskDescription: String?
}
