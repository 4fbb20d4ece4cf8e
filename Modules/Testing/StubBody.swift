public import FoundationEssentials
public import LinnetTransport
internal import NIOCore
internal import Synchronization

/// The body of a stubbed response, sent bit by bit by the test. For one response.
public final class StubBody: Sendable {
    /// Holds the body until a response takes it: who drops it abandons it, and that is the reader's to do.
    private let body: Mutex<TransportResponseBody?>
    private let writer: TransportResponseBodyWriter
    private let abandonment = Signal()
    private let demand = Signal()

    /// Makes a body with nothing sent.
    public init() {
        let (body, writer) = TransportResponseBodyWriter.makeBody(
            resumed: { [demand] in demand.fire() }, abandoned: { [abandonment] _ in abandonment.fire() })
        self.body = Mutex(body)
        self.writer = writer
    }

    /// Sends bytes; false when a connection would read no further from its socket until the reader has caught up.
    @discardableResult
    public func send(_ bytes: Data) -> Bool {
        writer.write(ByteBuffer(bytes: bytes))
    }

    /// Sends a text.
    @discardableResult
    public func send(_ text: String) -> Bool {
        send(Data(text.utf8))
    }

    /// Ends the body.
    public func finish() {
        writer.finish()
    }

    /// Breaks the body off.
    public func fail(_ error: TransportError) {
        writer.fail(error)
    }

    /// Returns when the reader left before the end.
    public func waitForAbandonment() async {
        await abandonment.wait()
    }

    /// Returns when the reader wanted more after ``send(_:)-(Data)`` returned false.
    public func waitForDemand() async {
        await demand.wait()
    }

    var transportBody: TransportResponseBody {
        body.withLock { body in
            defer { body = nil }
            return body ?? TransportResponseBody(ByteBuffer())
        }
    }
}
