/// Whether a connection takes another stream, and which it will be (RFC 9113, 5.1.1, 5.1.2 and 6.8). Pure.
struct HTTP2ConnectionStateMachine {
    /// How many streams a server is taken to allow until it says otherwise.
    static let assumedConcurrentStreams = 100

    private var nextID: Int
    private var peerLimit: Int
    private var isDraining = false
    private(set) var isClosed = false

    /// `firstID` is odd: streams with even numbers are the server's. `streams` is how many the server is taken to allow.
    init(firstID: Int = 1, streams: Int = assumedConcurrentStreams) {
        nextID = firstID
        peerLimit = streams
    }

    /// How many streams may run at a time, as far as new ones are concerned.
    var capacity: Int { takesStreams ? peerLimit : 0 }

    var takesStreams: Bool { !isDraining && !isClosed && nextID <= Int(Int32.max) }

    /// The next stream's number, or nil when there will be no more.
    mutating func open() -> Int? {
        guard takesStreams else { return nil }
        defer { nextID += 2 }
        return nextID
    }

    /// The server allows so many streams; true when that is a change.
    mutating func receivedLimit(_ limit: Int) -> Bool {
        guard limit != peerLimit else { return false }
        peerLimit = limit
        return takesStreams
    }

    /// No more new streams, by either side's wish; true when that is a change.
    mutating func drain() -> Bool {
        guard !isDraining, !isClosed else { return false }
        isDraining = true
        return true
    }

    /// Whether the connection has served its last stream.
    func isDone(streams: Int) -> Bool { !takesStreams && !isClosed && streams == 0 }

    /// True for the first call.
    mutating func close() -> Bool {
        defer { isClosed = true }
        return !isClosed
    }
}
