public import FoundationEssentials
public import HTTPTypes
public import LinnetSession

/// A task of a background session, as it was when it was read.
///
/// The value does not change; ``BackgroundSession/task(_:)``, ``BackgroundSession/tasks`` and
/// ``BackgroundSession/events`` give newer ones.
public struct BackgroundTask: Sendable, Identifiable {
    /// Identifies a task in the directory of its session. It is never used again for another task.
    public struct ID: Hashable, Sendable, Comparable, Codable, CustomStringConvertible, LosslessStringConvertible {
        let rawValue: Int64

        init(rawValue: Int64) { self.rawValue = rawValue }

        /// Creates an identifier from its description; nil if it is not a positive number.
        public init?(_ description: String) {
            guard let number = Int64(description), number > 0 else { return nil }
            rawValue = number
        }

        /// Decodes the number.
        public init(from decoder: any Decoder) throws {
            rawValue = try decoder.singleValueContainer().decode(Int64.self)
        }

        /// Encodes the number.
        public func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(rawValue)
        }

        /// The number, in decimal digits.
        public var description: String { String(rawValue) }

        /// Whether the first was accepted before the second.
        public static func < (lhs: ID, rhs: ID) -> Bool { lhs.rawValue < rhs.rawValue }
    }

    /// The direction of a task.
    public enum Kind: String, Sendable, Codable {
        /// A response that is written to a file.
        case download
        /// A request whose body is a file.
        case upload
    }

    /// The state of a task.
    public enum State: String, Sendable, Codable, CaseIterable {
        /// The task waits for its turn, its time, or its next attempt.
        case waiting
        /// A process transfers it.
        case running
        /// The task waits until it is resumed.
        case paused
        /// A download is whole at its destination; an upload was answered with an accepted status.
        case completed
        /// The task failed for good; see ``BackgroundTask/error``.
        case failed
        /// The task was cancelled.
        case cancelled

        /// Whether the task has ended. Only ``BackgroundSession/retry(_:)`` begins it again.
        public var isEnd: Bool { self == .completed || self == .failed || self == .cancelled }
    }

    /// The identifier.
    public let id: ID
    /// The direction.
    public let kind: Kind
    /// The state.
    public let state: State
    /// The URL of the request.
    public let url: URL
    /// The method of the request.
    public let method: HTTPRequest.Method
    /// The destination of a download, or the file of an upload. For a completed download, its file.
    public let file: URL
    /// The bytes transferred so far.
    public let progress: TransferProgress
    /// The error of a failed task, or of the last attempt of a task that will be tried again.
    public let error: BackgroundError?
    /// The number of attempts that were begun.
    public let attempts: Int
    /// The earliest time of the next attempt; nil if it can begin at once, or if there is none.
    public let nextAttempt: Date?
    /// The time after which the task fails.
    public let expiry: Date
    /// The priority among the waiting tasks.
    public let priority: RequestPriority
    /// The custom label.
    public let tag: String?
    /// The custom label that several tasks share.
    public let group: String?
    /// The status of the last response that ended an attempt.
    public let status: HTTPResponse.Status?
    /// The header fields of that response, up to 16 KiB, without credentials such as cookies; empty if a file was
    /// downloaded in segments.
    public let responseFields: HTTPFields
    /// The first 64 KiB of the response to an upload, or of the error page that ended an attempt.
    public let responseBody: Data?
    /// The largest number of bytes a second of this task; nil for no limit of its own.
    public let bandwidthLimit: Int64?
    /// The header fields of the request, without those that the session adds.
    package let requestFields: HTTPFields
}
