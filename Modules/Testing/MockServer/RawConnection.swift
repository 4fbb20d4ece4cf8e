public import FoundationEssentials
internal import NIOCore
internal import Synchronization

/// A connection to a ``MockServer`` that was started with ``MockServer/startRaw(tls:configuration:serve:)``.
///
/// Only one task at a time can read from it.
public final class RawConnection: Sendable {
    private let connection: ServerConnection
    private let inbound: InboundQueue<ByteBuffer>
    /// Bytes that were received behind the end of a ``read(through:)``.
    private let rest = Mutex(Data())

    init(connection: ServerConnection, inbound: InboundQueue<ByteBuffer>) {
        self.connection = connection
        self.inbound = inbound
    }

    var eventLoop: any EventLoop { connection.channel.eventLoop }

    /// The number of the connection, counted from 0.
    public var index: Int { connection.index }

    /// Returns the next received bytes; nil when the client has closed the connection. Bytes that followed the text of
    /// ``read(through:)`` come first.
    ///
    /// - Throws: ``TestingError`` with ``TestingError/Code/concurrentRead`` when another task reads,
    ///   `CancellationError` when the task is cancelled, or the error of the connection.
    public func read() async throws -> Data? {
        let rest = takeRest()
        if !rest.isEmpty { return rest }
        return try await inbound.next().map { Data($0.readableBytesView) }
    }

    private func takeRest() -> Data {
        rest.withLock { rest in
            defer { rest = Data() }
            return rest
        }
    }

    /// Reads up to a text. The bytes after it, for example a body that arrives together with its head, are read next.
    ///
    /// - Parameter end: The text. The default is `\r\n\r\n`, the end of a request's head.
    /// - Returns: The bytes up to the text, and the text.
    /// - Throws: ``TestingError`` with ``TestingError/Code/connectionClosed`` when the client closes the connection
    ///   before it has sent the text, and the errors of ``read()``.
    @discardableResult
    public func read(through end: String = "\r\n\r\n") async throws -> Data {
        let end = Data(end.utf8)
        var bytes = Data()
        while let more = try await read() {
            // The text may have begun in the bytes before.
            let searched = max(0, bytes.count - end.count + 1)
            bytes.append(more)
            guard let found = bytes[searched...].firstRange(of: end) else { continue }
            let following = bytes[found.upperBound...]
            rest.withLock { $0 = Data(following) }
            return bytes[..<found.upperBound]
        }
        throw TestingError(.connectionClosed, "The client closed the connection before it had sent the expected bytes.")
    }

    /// Sends bytes, and returns when they were written to the socket.
    public func write(_ bytes: Data) async throws {
        try await connection.write(ByteBuffer(bytes: bytes))
    }

    /// Sends text in UTF-8.
    public func write(_ text: String) async throws {
        try await connection.write(ByteBuffer(string: text))
    }

    /// Performs the effect of a fault.
    ///
    /// For all effects except `.delay` it returns when the connection is closed.
    public func perform(_ effect: MockServer.Fault.Effect) async throws {
        try await connection.performAlone(effect)
    }
}
