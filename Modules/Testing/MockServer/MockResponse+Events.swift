internal import FoundationEssentials
internal import HTTPTypes

extension MockResponse {
    /// A server-sent event (HTML, 9.2.6).
    public struct Event: Sendable, Hashable {
        /// The data. Each of its lines is sent as a line of its own.
        public var data: String
        /// The type of the event; nil, the default, for `message`.
        public var type: String?
        /// The ID of the last event; nil, the default, sends none.
        public var id: String?
        /// The time before a reconnection; nil, the default, sends none.
        public var retry: Duration?

        /// Creates an event.
        public init(_ data: String, type: String? = nil, id: String? = nil, retry: Duration? = nil) {
            self.data = data
            self.type = type
            self.id = id
            self.retry = retry
        }

        fileprivate var bytes: Data {
            var lines = data.split(separator: "\n", omittingEmptySubsequences: false).map { "data: \($0)" }
            if let type { lines.append("event: \(type)") }
            if let id { lines.append("id: \(id)") }
            if let retry { lines.append("retry: \(Int64(clamping: retry.attoseconds / 1_000_000_000_000_000))") }
            return Data((lines.joined(separator: "\n") + "\n\n").utf8)
        }
    }

    /// Creates a stream of server-sent events, each sent as a chunk, and then its end.
    public static func events(_ events: [Event]) -> MockResponse {
        eventStream(.chunks(events.map(\.bytes)))
    }

    /// Creates a stream of server-sent events, which are sent as a sequence yields them.
    public static func events<Events: AsyncSequence & Sendable>(_ events: Events) -> MockResponse
    where Events.Element == Event {
        eventStream(.stream(events.map(\.bytes)))
    }

    private static func eventStream(_ body: Body) -> MockResponse {
        MockResponse(headerFields: [.contentType: "text/event-stream", .cacheControl: "no-store"], body: body)
    }
}
