internal import FoundationEssentials
public import LinnetCompression
public import LinnetMessages

extension HARRecorder {
    /// The bodies that are recorded.
    public struct Bodies: OptionSet, Sendable, Hashable {
        /// The bits.
        public let rawValue: Int

        /// Creates a set from its bits.
        public init(rawValue: Int) { self.rawValue = rawValue }

        /// The bodies of requests. The secrets of forms (`application/x-www-form-urlencoded`) are hidden by the names
        /// in `Redaction.queryNames`.
        public static let requests = Bodies(rawValue: 1)
        /// The bodies of responses, as they are.
        public static let responses = Bodies(rawValue: 2)
        /// All bodies.
        public static let all: Bodies = [.requests, .responses]
    }

    /// The recorded parts, and the limits on their size.
    public struct Configuration: Sendable {
        /// The bodies that are recorded. The default is none, because they may contain secrets.
        public var bodies: Bodies = []
        /// The largest part of one body that is recorded, in bytes, coded as well as decoded. The default is 1 MiB.
        /// Beyond it, the body is truncated, which its comment says.
        public var maximumBodySize = 1 << 20
        /// The largest size of all bodies and heads together, in bytes. The default is 64 MiB. Beyond it, bodies are
        /// truncated, and later sends are left out, whose number is in the comment of the log.
        public var maximumSize = 64 << 20
        /// The largest number of entries. The default is 10,000. Beyond it, sends are left out, and counted.
        public var maximumEntries = 10_000
        /// The content codings that are undone. The default is gzip and deflate. Content in any other coding is
        /// recorded as it was received.
        public var contentCodings: [ContentCoding] = [.gzip, .deflate]
        /// The limits on decoding content, beside ``maximumBodySize``.
        public var decodingLimits = DecodingLimits()
        /// The secrets, which are hidden. The default is `.standard`.
        public var redaction: Redaction = .standard
        /// Changes each entry when the log is made, or leaves it out by returning nil. The default is nil: entries are
        /// not changed. For secrets in bodies that no name reveals.
        public var edit: (@Sendable (HAR.Entry) -> HAR.Entry?)?
        /// The time of day.
        var now: @Sendable () -> Date = { Date() }

        /// Creates the default configuration.
        public init() {}
    }
}
