public import FoundationEssentials
public import HTTPTypes
public import LinnetSecurity
internal import NIOCore

/// A request that a ``MockServer`` received.
public struct RecordedRequest: Sendable {
    /// The method.
    public internal(set) var method: HTTPRequest.Method
    /// The request target, unchanged: usually a path and query.
    public internal(set) var target: String
    /// The requested host and port: `:authority` over HTTP/2, the Host field over HTTP/1.1.
    public internal(set) var authority: String?
    /// The header fields in their original order and case, without the pseudo-header fields of HTTP/2.
    public internal(set) var headerFields: HTTPFields
    /// The protocol version: `HTTP/2`, `HTTP/1.1` or `HTTP/1.0`.
    public internal(set) var httpVersion: String
    /// The body. It is empty in streamed mode; read ``chunks`` instead.
    public internal(set) var body = Data()
    /// The number of received bytes of the body.
    public internal(set) var bodyLength = 0
    /// The trailer fields; nil when there were none.
    public internal(set) var trailers: HTTPFields?
    /// Whether the whole request was received.
    public internal(set) var isComplete = false
    /// The number of the connection, counted from 0 in the order of acceptance.
    public internal(set) var connectionIndex: Int
    /// The number of the request on its connection, counted from 0. Above 0 the connection was reused.
    public internal(set) var exchangeIndex: Int
    /// The HTTP/2 stream of the request; nil over HTTP/1.1.
    public internal(set) var streamID: Int?
    /// `TLSv1.2` or `TLSv1.3`; nil for plain HTTP.
    public internal(set) var tlsVersion: String?
    /// The server name in the TLS handshake (SNI), if any.
    public internal(set) var serverName: String?
    /// The certificate that the client presented in the TLS handshake, or in the handshake of the resumed session.
    public internal(set) var clientCertificate: X509Certificate?
    var bodyChunks = RequestBodyChunks(.bytes(Data()))

    /// The body as it arrives in streamed mode; otherwise ``body`` in one piece. It can be read once.
    ///
    /// The server reads from the client only as the sequence is iterated, so a slow handler applies backpressure. The
    /// sequence throws ``TestingError`` with ``TestingError/Code/connectionClosed`` when the client closes the
    /// connection before the end of the body.
    public var chunks: some AsyncSequence<Data, any Error> & Sendable { bodyChunks }

    /// The target up to the query.
    public var path: String {
        target.firstIndex(of: "?").map { String(target[..<$0]) } ?? target
    }

    /// The target after the question mark; nil when there is none.
    public var query: String? {
        target.firstIndex(of: "?").map { String(target[target.index(after: $0)...]) }
    }

    /// ``body`` as UTF-8 text.
    public var bodyText: String { String(decoding: body, as: UTF8.self) }

    init(_ head: RequestHead, connectionIndex: Int, exchangeIndex: Int, session: TLSServerHandshake?) {
        method = head.method
        target = head.target
        authority = head.authority
        headerFields = head.headerFields
        httpVersion = head.httpVersion
        streamID = head.streamID
        self.connectionIndex = connectionIndex
        self.exchangeIndex = exchangeIndex
        tlsVersion = session?.version
        serverName = session?.serverName
        clientCertificate = session?.clientCertificate.flatMap { try? X509Certificate(der: $0) }
    }
}

/// The body of a request as a sequence of pieces.
struct RequestBodyChunks: AsyncSequence, Sendable {
    typealias Element = Data

    enum Storage: Sendable {
        case bytes(Data)
        case live(RequestBodyReader)
    }

    let storage: Storage

    init(_ storage: Storage) {
        self.storage = storage
    }

    func makeAsyncIterator() -> Iterator {
        Iterator(storage: storage)
    }

    struct Iterator: AsyncIteratorProtocol {
        var storage: Storage?

        mutating func next() async throws -> Data? {
            switch storage {
            case .bytes(let data):
                storage = nil
                return data.isEmpty ? nil : data
            case .live(let reader):
                return try await reader.next().map { Data($0.readableBytesView) }
            case nil:
                return nil
            }
        }
    }
}

/// A part of a received request, independent of the HTTP version.
enum RequestPart: Sendable {
    case head(RequestHead)
    case body(ByteBuffer)
    case end(HTTPFields?)
}

/// The head of a received request.
struct RequestHead: Sendable {
    var method: HTTPRequest.Method
    var target: String
    var authority: String?
    var headerFields: HTTPFields
    var httpVersion: String
    /// The HTTP/2 stream; nil over HTTP/1.1.
    var streamID: Int?
    /// Whether the client allows the connection to be reused.
    var isKeepAlive = true

    var isHTTP10: Bool { httpVersion == "HTTP/1.0" }

    var expectsContinue: Bool {
        !isHTTP10 && headerFields[values: .expect].contains { $0.lowercased() == "100-continue" }
    }
}
