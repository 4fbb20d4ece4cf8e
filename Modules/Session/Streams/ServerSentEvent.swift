internal import HTTPTypes

/// An event of a `text/event-stream` (WHATWG HTML, section 9.2).
public struct ServerSentEvent: Sendable, Hashable {
    /// The event's type; `message` if the server does not set one.
    public var type: String
    /// The event's data, with lines separated by LF.
    public var data: String
    /// The last event ID that the server has set with the field `id`, in this event or an earlier one; empty if there
    /// was none. It is the attribute `lastEventId` of the standard's `MessageEvent`.
    public var lastEventID: String

    /// Creates an event.
    public init(type: String = "message", data: String, lastEventID: String = "") {
        self.type = type
        self.data = data
        self.lastEventID = lastEventID
    }
}

/// Parses the lines of an event stream. It is pure: each line is an input, and the line that completes an event returns
/// it.
struct ServerSentEventParser {
    private let limit: Int
    private var type = ""
    private var data: [UInt8] = []
    private var hasData = false
    private var isAtStart = true
    private var lastEventID: String
    /// The last event ID that a request can contain.
    private(set) var resumptionID: String
    /// The ID of the incomplete event.
    private var nextEventID: String
    /// The reconnection time that the server has set, if any.
    private(set) var retry: Duration?

    /// - Parameters:
    ///   - limit: The maximum size of an event's data in bytes.
    ///   - lastEventID: The initial last event ID.
    init(limit: Int, lastEventID: String = "") {
        self.limit = limit
        self.lastEventID = lastEventID
        nextEventID = lastEventID
        resumptionID = lastEventID
    }

    mutating func line(_ line: [UInt8]) throws(SessionError) -> ServerSentEvent? {
        var line = line[...]
        // A byte order mark at the start of the stream is ignored.
        if isAtStart, line.starts(with: [0xEF, 0xBB, 0xBF]) { line = line.dropFirst(3) }
        isAtStart = false
        guard !line.isEmpty else { return dispatch() }
        let colon = line.firstIndex(of: UInt8(ascii: ":")) ?? line.endIndex
        var value = line[colon...].dropFirst()
        if value.first == UInt8(ascii: " ") { value = value.dropFirst() }
        try field(String(decoding: line[..<colon], as: UTF8.self), value)
        return nil
    }

    private mutating func field(_ name: String, _ value: ArraySlice<UInt8>) throws(SessionError) {
        switch name {
        case "event":
            type = String(decoding: value, as: UTF8.self)
        case "data":
            guard value.count + data.count < limit else {
                throw SessionError(.bodyTooLarge, "An event has more than \(limit) bytes of data.")
            }
            data.append(contentsOf: value)
            data.append(UInt8(ascii: "\n"))
            hasData = true
        case "id" where !value.contains(0):
            nextEventID = String(decoding: value, as: UTF8.self)
        case "retry" where !value.isEmpty && value.allSatisfy { (0x30...0x39).contains($0) }:
            retry = Int64(String(decoding: value, as: UTF8.self)).map { .milliseconds($0) } ?? retry
        default:
            // An empty name marks a comment; unknown names are ignored.
            break
        }
    }

    private mutating func dispatch() -> ServerSentEvent? {
        defer {
            (type, data, hasData) = ("", [], false)
        }
        // Also without data, as the standard says: a server sends such an event to set the ID alone.
        lastEventID = nextEventID
        // A field cannot contain other IDs (RFC 9110, section 5.5); after an invalid one, the previous ID is sent.
        if HTTPField.isValidValue(lastEventID) { resumptionID = lastEventID }
        guard hasData else { return nil }
        return ServerSentEvent(
            type: type.isEmpty ? "message" : type, data: String(decoding: data.dropLast(), as: UTF8.self),
            lastEventID: lastEventID)
    }
}
