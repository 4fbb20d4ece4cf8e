/// An event of a `text/event-stream` (WHATWG HTML, section 9.2).
public struct ServerSentEvent: Sendable, Hashable {
    /// Its type; `message` where the server names none.
    public var type: String
    /// Its data; lines are separated by LF.
    public var data: String
    /// The last ID that the server has sent, with this event or before; empty when there was none.
    public var lastEventID: String

    /// Makes an event.
    public init(type: String = "message", data: String, lastEventID: String = "") {
        self.type = type
        self.data = data
        self.lastEventID = lastEventID
    }
}

/// Makes events of the lines of a stream. Pure: a line goes in, an event comes out when it is complete.
struct ServerSentEventParser {
    private let limit: Int
    private var type = ""
    private var data: [UInt8] = []
    private var hasData = false
    private var isAtStart = true
    private var lastEventID: String
    /// The ID of the event that is being read.
    private var nextEventID: String
    /// How long the server wants its client to wait before it connects again.
    private(set) var retry: Duration?

    /// - Parameter limit: The most bytes of an event's data.
    init(limit: Int, lastEventID: String = "") {
        self.limit = limit
        self.lastEventID = lastEventID
        nextEventID = lastEventID
    }

    /// The ID to connect again with: of the last event that was complete.
    var resumptionID: String { lastEventID }

    mutating func line(_ line: [UInt8]) throws(SessionError) -> ServerSentEvent? {
        var line = line[...]
        // One byte order mark at the stream's start is none of its content.
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
            // An empty name is a comment's; others are for later versions.
            break
        }
    }

    private mutating func dispatch() -> ServerSentEvent? {
        defer {
            (type, data, hasData) = ("", [], false)
        }
        lastEventID = nextEventID
        guard hasData else { return nil }
        return ServerSentEvent(
            type: type.isEmpty ? "message" : type, data: String(decoding: data.dropLast(), as: UTF8.self),
            lastEventID: lastEventID)
    }
}
