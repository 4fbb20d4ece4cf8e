internal import FoundationEssentials
internal import HTTPTypes

/// What a response is written to: it knows how the protocol version puts heads, bodies and ends on the wire.
///
/// Nothing leaves before it is flushed. Belongs to the task of one exchange.
protocol ResponseSink: AnyObject {
    /// Whether a body goes out at all: not to HEAD, nor with some statuses.
    var hasBody: Bool { get }

    /// Takes a response with a 1xx status.
    func writeInformational(_ head: HTTPResponse)
    /// Takes the head of the response.
    func writeHead()
    /// Says that a piece of the body of this length begins.
    func beginPiece(of count: Int)
    /// Takes bytes of a piece, or of a response that is raw.
    func write(_ bytes: Data)
    /// Says that the piece is complete.
    func endPiece()
    /// Says that the response is complete.
    func writeEnd()
    /// Sends what was taken, and returns when the socket has it.
    func flush(endsExchange: Bool) async throws
}
