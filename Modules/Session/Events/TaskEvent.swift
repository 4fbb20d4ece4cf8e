public import FoundationEssentials
internal import Synchronization

/// An event of one of a session's requests.
///
/// For each ``taskID``, events are delivered in the order in which they happened, each change once, and `completed`
/// last and exactly once. A subscriber receives only events after its subscription, so the first event for an ID can be
/// of any kind.
public struct TaskEvent: Sendable {
    /// The kind of event.
    public enum Kind: Sendable {
        /// A handle was created, in the suspended state.
        case created
        /// The request was started, or resumed after a suspension.
        case resumed
        /// The request was suspended.
        case suspended
        /// The request ended, with its error, or nil on success.
        case completed(SessionError?)
    }

    /// The request's ID, unique in the process.
    public let taskID: UInt64
    /// The kind of event.
    public let kind: Kind
    /// The request's URL; nil if the request could not be created.
    public let url: URL?
    /// The request's `RequestOptions.tag`.
    public let tag: String?
    /// The description of the handle, if there is one.
    public let taskDescription: String?
}

/// Generates the IDs of requests, which are unique in the process.
enum TaskID {
    private static let last = Atomic<UInt64>(0)

    static func next() -> UInt64 {
        last.add(1, ordering: .relaxed).newValue
    }
}
