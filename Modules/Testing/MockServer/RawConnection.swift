public import FoundationEssentials
internal import NIOCore

/// A connection to a ``MockServer`` that was started with `startRaw`: bytes, and nothing else.
///
/// One task at a time reads from it.
public final class RawConnection: Sendable {
    private let connection: ServerConnection
    private let inbound: InboundQueue<ByteBuffer>

    init(connection: ServerConnection, inbound: InboundQueue<ByteBuffer>) {
        self.connection = connection
        self.inbound = inbound
    }

    /// The connection's number, counted from 0.
    public var index: Int { connection.index }

    /// The bytes that come next, as they come; nil when the client has closed.
    public func read() async throws -> Data? {
        try await inbound.next().map { Data($0.readableBytesView) }
    }

    /// Reads until the bytes that were read end with this text, and returns them all; a request's head ends with
    /// `\r\n\r\n`, the default.
    ///
    /// Fails with ``TestingError/Code/connectionClosed`` when the client closes before that.
    @discardableResult
    public func read(through end: String = "\r\n\r\n") async throws -> Data {
        var bytes = Data()
        while let more = try await read() {
            bytes.append(more)
            if bytes.suffix(end.utf8.count).elementsEqual(end.utf8) { return bytes }
        }
        throw TestingError(.connectionClosed, "The client closed the connection before it had sent what was awaited.")
    }

    /// Sends bytes, and returns when the socket has taken them.
    public func write(_ bytes: Data) async throws {
        try await connection.write(ByteBuffer(bytes: bytes))
    }

    /// Sends text in UTF-8.
    public func write(_ text: String) async throws {
        try await connection.write(ByteBuffer(string: text))
    }

    /// Lets a fault's effect take its course.
    ///
    /// After all but `.delay` it returns when the connection is closed.
    public func perform(_ effect: MockServer.Fault.Effect) async throws {
        do {
            try await connection.perform(effect)
        } catch is ExchangeEnded {
            return
        }
    }
}
